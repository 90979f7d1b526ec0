/** Restores a backup. Verifies the whole backup first, and replaces the database only when the new one is complete. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Logger } from 'pino';
import { createAuditRecorder } from '../audit/audit-recorder.ts';
import type { Config } from '../platform/config.ts';
import { keyFile } from '../platform/encryption.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import { readRows } from '../store/table-rows.ts';
import { backupFiles } from './backup-format.ts';
import { sha256Of } from './checksums.ts';
import { fillTables, type PrintLine } from './fill-tables.ts';
import { type Backup, openBackup, rowsOf } from './read-backup.ts';
import { type DatabaseContents, openTarget } from './target-database.ts';

interface RestoreDependencies {
  readonly config: Config;
  /** The current settings by name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly log: Logger;
  readonly printLine: PrintLine;
}

/**
 * Restores the backup in a folder.
 *
 * @param mayReplace whether to replace a database that has accounts, and uploaded files that have other contents in the backup
 * @throws Error with a sentence for the operator; nothing has changed then, except that uploads may have been copied
 */
export async function restoreBackup(
  dependencies: RestoreDependencies,
  folder: string,
  mayReplace: boolean,
): Promise<void> {
  const { config, printLine } = dependencies;
  const backup = await openBackup(folder);
  const { manifest, shapes } = backup;
  printLine(
    `The backup is complete: version ${manifest.programVersion}, ${manifest.database}, ${manifest.createdAt}.`,
  );
  await requireSameKey(dependencies, backup);
  const target = await openTarget(config.databaseUrl, config.dataDir);
  try {
    requireReplaceable(target.contents, mayReplace);
    await copyUploads(dependencies, backup, mayReplace);
    const contents = manifest.tables.map(({ name, rows, sha256 }) => ({
      shape: requireTable(shapes.find((shape) => shape.name === name)),
      rows: () => rowsOf(backup, name),
      digest: async () => ({ rows, sha256 }),
    }));
    let missingSlides: readonly string[] = [];
    const oldFile = await target.replaceContents(async (tx) => {
      await fillTables(tx, manifest.schema, shapes, contents, printLine);
      await recordRestore(dependencies, tx, backup);
      missingSlides = await findMissingSlides(config, tx);
      await installKey(config, backup); // the last step, because a rollback does not undo it
    });
    if (oldFile !== null) printLine(`The previous database is kept as ${oldFile}.`);
    reportMissingSlides(printLine, missingSlides);
  } finally {
    await target.close();
  }
  await reportChangedSettings(dependencies, backup);
  printLine('Restored. All sign-ins and image sessions have ended; passwords are those of the backup.');
}

/** Returns the shape of a table. @throws Error when there is none */
function requireTable<T>(shape: T | undefined): T {
  if (shape === undefined) throw new Error('The backup contains an unknown table.');
  return shape;
}

/** Checks that SECRET_KEY does not differ from the encryption key of the backup. @throws Error with a sentence for the operator */
async function requireSameKey({ config }: RestoreDependencies, backup: Backup): Promise<void> {
  const currentKey = config.secretKey;
  const settingsFile = path.join(backup.folder, backupFiles.settings);
  const backupKeyFile = path.join(backup.folder, backupFiles.key);
  if (backup.manifest.sealedWith === 'settings' && currentKey !== (await settingsOf(backup)).SECRET_KEY) {
    throw new Error(
      `Secrets in the backup are encrypted with the SECRET_KEY of its settings. Set SECRET_KEY as in ${settingsFile} first.`,
    );
  }
  if (backup.manifest.sealedWith !== 'file' || currentKey === null) return; // null: no SECRET_KEY; installKey() installs the key file
  if (currentKey !== (await readKey(backup)).trim()) {
    throw new Error(
      `Secrets in the backup are encrypted with another key. Remove SECRET_KEY, or set it to the contents of ${backupKeyFile}.`,
    );
  }
}

function readKey({ folder }: Backup): Promise<string> {
  return fs.readFile(path.join(folder, backupFiles.key), 'utf8');
}

/** Checks that no accounts are lost unless `mayReplace` is set. @throws Error with a sentence for the operator */
function requireReplaceable(contents: DatabaseContents | null, mayReplace: boolean): void {
  if (contents === null || contents.accounts === 0 || mayReplace) return;
  const { accounts, images, auditEntries } = contents;
  throw new Error(
    `The database holds ${accounts} accounts, ${images} catalogue entries and ${auditEntries} audit events, which would be lost. Use --replace to replace them. Nothing has been changed.`,
  );
}

/** Returns the settings of the backed-up installation by name. */
async function settingsOf({ folder }: Backup): Promise<Readonly<NodeJS.Dict<string>>> {
  return parseEnv(await fs.readFile(path.join(folder, backupFiles.settings), 'utf8'));
}

/** Copies uploaded slides and results that do not exist yet. @throws Error when a file exists with other contents, unless `mayReplace` */
async function copyUploads(
  { config, printLine }: RestoreDependencies,
  backup: Backup,
  mayReplace: boolean,
): Promise<void> {
  const copies = backup.uploads.map(({ file, sha256 }) => ({
    source: path.join(backup.folder, file),
    target: file.startsWith(`${backupFiles.results}/`)
      ? path.join(config.dataDir, file)
      : path.join(slideRoots(config).uploads, path.relative(backupFiles.uploads, file)),
    sha256,
  }));
  const neededCopies: typeof copies = [];
  for (const copy of copies) {
    const existingHash = await sha256Of(copy.target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (existingHash === copy.sha256) continue;
    if (existingHash !== null && !mayReplace)
      throw new Error(`${copy.target} already exists with other contents.`);
    neededCopies.push(copy);
  }
  for (const { source, target } of neededCopies) {
    await fs.mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    const unfinishedFile = `${target}.restoring`;
    await fs.copyFile(source, unfinishedFile);
    await fs.rename(unfinishedFile, target);
  }
  if (neededCopies.length > 0)
    printLine(`${neededCopies.length} files of uploaded slides and results restored in ${config.dataDir}.`);
}

/** Installs the key file. Keeps a previous key as `secret.key.before-restore`, because the previous database needs it. */
async function installKey({ dataDir }: Config, backup: Backup): Promise<void> {
  if (backup.manifest.sealedWith !== 'file') return;
  const file = keyFile(dataDir);
  const key = await readKey(backup);
  const existingKey = await fs.readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (existingKey === key) return;
  if (existingKey !== null) await fs.copyFile(file, `${file}.before-restore`);
  await fs.mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unfinishedFile = `${file}.restoring`;
  await fs.writeFile(unfinishedFile, key, { mode: 0o600, flush: true });
  await fs.rename(unfinishedFile, file);
}

function recordRestore(
  { now, log }: RestoreDependencies,
  tx: DatabaseTransaction,
  { manifest }: Backup,
): Promise<void> {
  return createAuditRecorder({ db: tx, now, log }).record(tx, {
    action: 'backup-restored',
    actor: null,
    target: null,
    detail: { backup_of: manifest.createdAt, version: manifest.programVersion },
    origin: null,
  });
}

/** Returns the slide files that the catalogue lists but that do not exist in the folders of this machine. */
async function findMissingSlides(config: Config, tx: DatabaseTransaction): Promise<string[]> {
  const roots: Readonly<Record<string, string>> = slideRoots(config);
  const missing: string[] = [];
  const columns = ['missing_since', 'path', 'removed_at', 'root'];
  const shape = { name: 'images', columns, key: [{ column: 'id', isText: true }] };
  for await (const rows of readRows(tx, shape)) {
    for (const [missingSince, slidePath, removedAt, root] of rows) {
      const folder = roots[String(root)];
      // A slide in object storage has no folder.
      if (folder === undefined || missingSince !== null || removedAt !== null) continue;
      const file = path.join(folder, String(slidePath));
      if (!(await exists(file))) missing.push(file);
    }
  }
  return missing;
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

function reportMissingSlides(printLine: PrintLine, slides: readonly string[]): void {
  if (slides.length === 0) return;
  const examples = slides.slice(0, 3).join(', ');
  const more = slides.length > 3 ? ' …' : '';
  printLine(`Missing slide files: ${slides.length} slides (${examples}${more}).`);
}

/** Prints the names of settings that differ from the backup. Never prints values, because they may be secrets. */
async function reportChangedSettings(
  { settings, printLine }: RestoreDependencies,
  backup: Backup,
): Promise<void> {
  const backupSettings = await settingsOf(backup);
  const names = new Set([...Object.keys(backupSettings), ...Object.keys(settings)]);
  const different = [...names].filter((name) => backupSettings[name] !== settings[name]).sort();
  if (different.length === 0) return;
  printLine(
    `Settings that differ from the backup: ${different.join(', ')}. Those of the backup are in ${path.join(backup.folder, backupFiles.settings)}.`,
  );
}
