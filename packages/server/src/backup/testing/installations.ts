/** Installations for tests of backups, and functions that modify a backup. */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pino from 'pino';
import { restoreAdmin } from '../../accounts/first-admin.ts';
import { createAuditRecorder } from '../../audit/audit-recorder.ts';
import { type Config, readConfig } from '../../platform/config.ts';
import { createEncryption } from '../../platform/encryption.ts';
import { createEmbeddedSignIn } from '../../sign-in/embedded-sign-in.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import {
  type AnyRow,
  emptyDatabaseLocation,
  loadOldDatabase,
  readWithoutMigrating,
  temporaryFolder,
} from '../../store/testing/old-databases.ts';
import type { DatabaseKind } from '../../store/testing/test-database.ts';
import { cheapPasswords } from '../../testing/cheap-passwords.ts';
import { type Manifest, tablesClearedByRestore } from '../backup-format.ts';
import { sha256Of, writeChecksums } from '../checksums.ts';
import { restoreBackup } from '../restore-backup.ts';
import { writeBackup } from '../write-backup.ts';

export const log = pino({ level: 'silent' });
export const clock = () => new Date('2026-06-01T12:00:00.000Z');
/** E-mail address of the administrator. */
export const email = 'yönetici@example.org';

export interface Installation {
  readonly config: Config;
  /** Opens and migrates the database. */
  readonly open: () => Promise<Database>;
  /** Reads from the database without migrating it. */
  readonly read: <T>(query: (db: Database) => Promise<T>) => Promise<T>;
}

/** Returns the installation of a database and a data folder. @param env further settings */
export function installationAt(
  database: { readonly url: string | null },
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Installation {
  const config = readConfig(
    { DATA_DIR: dataDir, DATABASE_URL: database.url ?? '', SLIDES_DIR: path.join(dataDir, 'slides'), ...env },
    dataDir,
  );
  const location = { url: database.url, file: path.join(dataDir, 'lamina.db') };
  return {
    config,
    open: () => openDatabase(location),
    read: <T>(query: (db: Database) => Promise<T>) => readWithoutMigrating(location, query),
  };
}

/** Creates an installation that has never been started. */
export async function emptyInstallation(
  kind: DatabaseKind,
  env: NodeJS.ProcessEnv = {},
): Promise<Installation> {
  const dataDir = temporaryFolder();
  return installationAt(await emptyDatabaseLocation(kind, dataDir), dataDir, env);
}

/** Creates an installation with rows in every table, and an administrator whose password it returns. */
export async function usedInstallation(
  kind: DatabaseKind,
  env: NodeJS.ProcessEnv = {},
): Promise<Installation & { readonly password: string }> {
  const dataDir = temporaryFolder();
  const installation = installationAt(await loadOldDatabase('0008', kind, dataDir), dataDir, env); // 0008: version 0.1.0 of the program
  createEncryption(installation.config); // creates the key
  const db = await installation.open();
  const signIn = createEmbeddedSignIn({ db, log, now: clock, passwordCost: cheapPasswords });
  const audit = createAuditRecorder({ db, now: clock, log });
  const { password } = await restoreAdmin({ db, now: clock, signIn, audit }, email);
  await db.destroy();
  return { ...installation, password };
}

/** Backs up an installation. @returns the folder of the backup, which is deleted after the test unless `to` is set */
export function backUp(
  { config }: Pick<Installation, 'config'>,
  {
    settings = {},
    printLine = () => undefined,
    ...options
  }: Partial<Parameters<typeof writeBackup>[1]> & {
    readonly settings?: Record<string, string>;
    readonly printLine?: (sentence: string) => void;
  } = {},
): Promise<string> {
  const to = options.to ?? temporaryFolder();
  return writeBackup(
    { config, settings, now: clock, printLine },
    { withUploads: false, keep: null, ...options, to },
  );
}

/** Restores a backup. @returns the printed sentences */
export async function restoreFrom(
  { config }: Pick<Installation, 'config'>,
  folder: string,
  { replace = false, settings = {} }: { replace?: boolean; settings?: Record<string, string> } = {},
): Promise<string> {
  const output: string[] = [];
  const printLine = (sentence: string) => output.push(sentence);
  await restoreBackup({ config, settings, now: clock, log, printLine }, folder, replace);
  return output.join('\n');
}

/** Returns the tables that a restore must not change: all except the cleared ones and those to which a restore adds rows. */
export function stableTables(all: ReadonlyMap<string, readonly AnyRow[]>): Record<string, readonly AnyRow[]> {
  const tablesWithNewRows = new Set(['audit', 'audit_chain', 'locks', 'schema_changes']);
  return Object.fromEntries(
    [...all].filter(([name]) => !tablesClearedByRestore.has(name) && !tablesWithNewRows.has(name)),
  );
}

export async function auditRowsOf(db: Database): Promise<AnyRow[]> {
  return (await db.selectFrom('audit').selectAll().orderBy('seq').execute()).map((row) => ({ ...row }));
}

/** Writes the list of checksums again after a file of the backup has been changed. */
export async function updateChecksums(folder: string): Promise<void> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sums = new Map<string, string>();
  for (const name of names.filter((name) => name !== 'SHA256SUMS').sort()) {
    if (fs.statSync(path.join(folder, name)).isFile())
      sums.set(name, await sha256Of(path.join(folder, name)));
  }
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), writeChecksums(sums));
}

export function changeManifest(folder: string, change: (manifest: Manifest) => void): void {
  const file = path.join(folder, 'manifest.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest;
  change(manifest);
  fs.writeFileSync(file, JSON.stringify(manifest));
}

/** Changes the rows of a table, and updates manifest and checksums accordingly. @param change maps the lines of the table */
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
    const tableEntry = tables.find(({ name }) => name === table);
    Object.assign(tableEntry ?? {}, { rows: lines.length, sha256: hash('sha256', lines.join(''), 'hex') });
  });
  await updateChecksums(folder);
}
