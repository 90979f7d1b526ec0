/**
 * What a backup is: a folder that any program can read and `sha256sum -c SHA256SUMS` can check.
 *
 * - `SHA256SUMS`: the hash of every other file.
 * - `manifest.json`: what the backup is of, and what each table holds.
 * - `tables/<name>.ndjson.gz`: a line for each row, in the order of the primary key: a JSON array of its values.
 * - `slides.csv`: which slides the catalogue points to. Their files are not in the backup.
 * - `settings.env`, `secret.key`: what the settings were, and the key that seals secrets in the tables.
 * - `uploads/`: slides that were uploaded, where they were asked for.
 *
 * A folder whose name ends in `.unfinished` is none yet.
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
  /** The last migration that the tables have seen. */
  schema: z.string(),
  /** Those before that others refer to. */
  tables: z.array(
    z.object({
      name: z.string().regex(/^[a-z_]+$/),
      columns: z.array(z.string()),
      rows: z.number().int(),
      /** Of the lines, hexadecimal. */
      sha256: z.string(),
    }),
  ),
  /** Where the key is that seals secrets in the tables: in the settings, in a file of its own, or nowhere yet. */
  sealedWith: z.enum(['settings', 'file', 'none']),
  uploads: z.enum(['included', 'left out', 'none']),
});
export type Manifest = z.infer<typeof Manifest>;

/**
 * Not in a backup: who comes back to it signs in anew. Neither are the links that set a password (one that was used
 * since would work again), nor who tried too often, nor uploads under way, whose pieces are not in it.
 */
export const endsWithReturn: ReadonlySet<string> = new Set([
  'tokens',
  'image_sessions',
  'image_openings',
  'password_resets',
  'throttles',
  'uploads',
  'upload_files',
]);

const namePattern = /^lamina-backup-\d{8}T\d{6}Z(-\d+)?$/;
export const unfinishedEnding = '.unfinished';

/** In the order of the names, backups stand in the order of time. */
export function backupName(at: Date): string {
  return `lamina-backup-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

export function isBackupName(name: string): boolean {
  return namePattern.test(name);
}
