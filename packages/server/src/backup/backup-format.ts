/**
 * The format of a backup: a folder that any program can read and `sha256sum -c SHA256SUMS` can check.
 *
 * - `SHA256SUMS`: the hash of every other file.
 * - `manifest.json`: version, time, and the hash and row count of each table.
 * - `tables/<name>.ndjson.gz`: a line for each row, in the order of the primary key: a JSON array of its values.
 * - `slides.csv`: the slides in the catalogue. Their files are not in the backup.
 * - `settings.env`, `secret.key`: the settings, and the key of encrypted secrets in the tables.
 * - `uploads/`, `results/`: uploaded slides and the content of result layers, with `--with-uploads`.
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
  /** In an order in which referenced tables come first. */
  tables: z.array(
    z.object({
      name: z.string().regex(/^[a-z_]+$/),
      columns: z.array(z.string()),
      rows: z.number().int(),
      /** Hash of the lines, hexadecimal. */
      sha256: z.string(),
    }),
  ),
  /** Location of the encryption key: `settings` (SECRET_KEY), `file` (secret.key), or `none` when nothing is encrypted yet. */
  sealedWith: z.enum(['settings', 'file', 'none']),
  uploads: z.enum(['included', 'left out', 'none']),
});
export type Manifest = z.infer<typeof Manifest>;

/**
 * Tables that are not in a backup: users sign in again after a restore. The same holds for links that set a password or
 * confirm a registration (a link used since would work again), share links (one ended since would work again), throttles, and uploads in progress, whose parts are not in
 * the backup.
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

const namePattern = /^lamina-backup-\d{8}T\d{6}Z(-\d+)?$/;
export const unfinishedSuffix = '.unfinished';

/** Returns the folder name; names sort by time. */
export function backupName(at: Date): string {
  return `lamina-backup-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

export function isBackupName(name: string): boolean {
  return namePattern.test(name);
}
