/**
 * The format of a backup: a folder with files in common formats. `sha256sum -c SHA256SUMS` verifies it.
 *
 * - `SHA256SUMS`: the hash of every other file.
 * - `manifest.json`: version, time, and the hash and row count of each table.
 * - `tables/<name>.ndjson.gz`: one line for each row, with a JSON array of its values, in the order of the primary key.
 * - `slides.csv`: a list of the slides in the catalogue. The backup does not contain the slide files.
 * - `settings.env`, `secret.key`: the settings, and the key by which secrets in the tables are encrypted.
 * - `uploads/`, `results/`: with `--with-uploads`, the uploaded slides, and the results of analysis programs.
 *
 * A folder whose name ends in `.unfinished` is not a complete backup.
 */
import { z } from 'zod';

export const formatVersion = 1;

export const backupFiles = {
  checksums: 'SHA256SUMS',
  manifest: 'manifest.json',
  slides: 'slides.csv',
  settings: 'settings.env',
  key: 'secret.key',
  uploads: 'uploads',
  results: 'results',
} as const;

/** Returns the path of a table's rows in the backup. */
export function tableFile(table: string): string {
  return `tables/${table}.ndjson.gz`;
}

export const Manifest = z.object({
  format: z.literal('lamina-backup'),
  formatVersion: z.number().int(),
  programVersion: z.string(),
  createdAt: z.iso.datetime(),
  database: z.enum(['SQLite', 'PostgreSQL']),
  /** Name of the last applied migration. */
  schema: z.string(),
  /** A table comes after the tables that it references. */
  tables: z.array(
    z.object({
      name: z.string().regex(/^[a-z_]+$/),
      columns: z.array(z.string()),
      rows: z.number().int(),
      /** Hash of the uncompressed lines, in hexadecimal. */
      sha256: z.string(),
    }),
  ),
  /** Where the encryption key is: `settings` (SECRET_KEY), `file` (secret.key), or `none`: this backup has no key. */
  sealedWith: z.enum(['settings', 'file', 'none']),
  /** Uploaded slides and results: `left out` without `--with-uploads`; `none` if the installation has none. */
  uploads: z.enum(['included', 'left out', 'none']),
});
export type Manifest = z.infer<typeof Manifest>;

/**
 * Tables that a backup does not contain, so they are empty after a restore. Users must sign in again and create new API tokens. Links
 * that set a password or confirm a registration, and share links, no longer work: otherwise links that were used or ended after the
 * backup would work again. Uploads in progress are lost, because the backup does not contain their parts.
 */
export const tablesClearedByRestore: ReadonlySet<string> = new Set([
  'tokens',
  'api_tokens',
  'api_token_uses',
  'image_sessions',
  'image_openings',
  'password_resets',
  'registrations',
  'throttles',
  'uploads',
  'upload_files',
  'share_links',
  'presentations',
]);

const namePattern = /^lamina-backup-\d{8}T\d{6}Z(-\d+)?$/; // a further backup in the same second has a number
export const unfinishedSuffix = '.unfinished';

/** Returns the folder name of a backup, such as `lamina-backup-20260601T120000Z`. Names sort alphabetically by time. */
export function backupName(at: Date): string {
  return `lamina-backup-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

export function isBackupName(name: string): boolean {
  return namePattern.test(name);
}
