/** Installations that are backed up and come back, and backups that somebody has meddled with. */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pino from 'pino';
import { createAudit } from '../../audit.ts';
import { type Config, readConfig } from '../../config.ts';
import { restoreAdmin } from '../../first-admin.ts';
import { createSealing } from '../../sealing.ts';
import { createEmbeddedSignIn } from '../../sign-in/embedded.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import {
  type AnyRow,
  emptyPlace,
  loadOldDatabase,
  lookedAt,
  temporaryFolder,
} from '../../store/testing/old-databases.ts';
import type { DatabaseKind } from '../../store/testing/test-database.ts';
import { cheapPasswords } from '../../testing/cheap-passwords.ts';
import { endsWithReturn, type Manifest } from '../backup-format.ts';
import { sha256Of, writeChecksums } from '../checksums.ts';
import { restoreBackup } from '../restore-backup.ts';
import { writeBackup } from '../write-backup.ts';

export const log = pino({ level: 'silent' });
export const clock = () => new Date('2026-06-01T12:00:00.000Z');
/** Of the administrator. */
export const email = 'yönetici@example.org';

export interface Installation {
  readonly config: Config;
  readonly open: () => Promise<Database>;
  readonly look: <T>(look: (db: Database) => Promise<T>) => Promise<T>;
}

/** @param env settings beyond those of the place */
export function installationAt(
  place: { readonly url: string | null },
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Installation {
  const config = readConfig(
    { DATA_DIR: dataDir, DATABASE_URL: place.url ?? '', SLIDES_DIR: path.join(dataDir, 'slides'), ...env },
    dataDir,
  );
  const location = { url: place.url, file: path.join(dataDir, 'lamina.db') };
  return {
    config,
    open: () => openDatabase(location),
    look: <T>(look: (db: Database) => Promise<T>) => lookedAt(location, look),
  };
}

/** Nothing has ever been started there. */
export async function emptyInstallation(
  kind: DatabaseKind,
  env: NodeJS.ProcessEnv = {},
): Promise<Installation> {
  const dataDir = temporaryFolder();
  return installationAt(await emptyPlace(kind, dataDir), dataDir, env);
}

/** Rows in every table, and an administrator whose password is known. */
export async function usedInstallation(
  kind: DatabaseKind,
  env: NodeJS.ProcessEnv = {},
): Promise<Installation & { readonly password: string }> {
  const dataDir = temporaryFolder();
  const installation = installationAt(await loadOldDatabase('0008', kind, dataDir), dataDir, env);
  createSealing(installation.config); // makes the key
  const db = await installation.open();
  const signIn = createEmbeddedSignIn({ db, log, now: clock, passwordCost: cheapPasswords });
  const audit = createAudit({ db, now: clock, log });
  const { password } = await restoreAdmin({ db, now: clock, signIn, audit }, email);
  await db.destroy();
  return { ...installation, password };
}

const nobody = () => undefined;

/** @returns the folder of the backup; gone with the test, when no other place is named */
export function backUp(
  { config }: Pick<Installation, 'config'>,
  {
    settings = {},
    say = nobody,
    ...wish
  }: Partial<Parameters<typeof writeBackup>[1]> & {
    readonly settings?: Record<string, string>;
    readonly say?: (sentence: string) => void;
  } = {},
): Promise<string> {
  const to = wish.to ?? temporaryFolder();
  return writeBackup({ config, settings, now: clock, say }, { withUploads: false, keep: null, ...wish, to });
}

/** @returns what is said on the way */
export async function bringBack(
  { config }: Pick<Installation, 'config'>,
  folder: string,
  { replace = false, settings = {} }: { replace?: boolean; settings?: Record<string, string> } = {},
): Promise<string> {
  const said: string[] = [];
  const say = (sentence: string) => said.push(sentence);
  await restoreBackup({ config, settings, now: clock, log, say }, folder, replace);
  return said.join('\n');
}

/** What a return keeps as it was: all but what ends with it, and what it writes itself. */
export function kept(all: ReadonlyMap<string, readonly AnyRow[]>): Record<string, readonly AnyRow[]> {
  const own = new Set(['audit', 'audit_chain', 'locks', 'schema_changes']);
  return Object.fromEntries([...all].filter(([name]) => !endsWithReturn.has(name) && !own.has(name)));
}

/** In its order. */
export async function trailOf(db: Database): Promise<AnyRow[]> {
  return (await db.selectFrom('audit').selectAll().orderBy('seq').execute()).map((row) => ({ ...row }));
}

/** As whoever damages a backup and makes the list of checksums anew. */
export async function sealAnew(folder: string): Promise<void> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sums = new Map<string, string>();
  for (const name of names.filter((each) => each !== 'SHA256SUMS').sort()) {
    if (fs.statSync(path.join(folder, name)).isFile())
      sums.set(name, await sha256Of(path.join(folder, name)));
  }
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), writeChecksums(sums));
}
export function changeManifest(folder: string, change: (manifest: Manifest) => void): void {
  const file = path.join(folder, 'manifest.json');
  const said = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest;
  change(said);
  fs.writeFileSync(file, JSON.stringify(said));
}

/** A backup that is whole, but whose rows nobody ever had. */
export async function replaceRows(
  folder: string,
  table: string,
  change: (lines: string[]) => string[],
): Promise<void> {
  const file = path.join(folder, `tables/${table}.ndjson.gz`);
  const lines = change(gunzipSync(fs.readFileSync(file)).toString().split('\n').filter(Boolean)).map(
    (line) => `${line}\n`,
  );
  fs.writeFileSync(file, gzipSync(lines.join('')));
  changeManifest(folder, ({ tables }) => {
    const said = tables.find(({ name }) => name === table);
    Object.assign(said ?? {}, { rows: lines.length, sha256: hash('sha256', lines.join(''), 'hex') });
  });
  await sealAnew(folder);
}
