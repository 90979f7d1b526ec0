import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { migrations } from '../store/database.ts';
import { temporaryFolder } from '../store/testing/old-databases.ts';
import {
  backUp,
  changeManifest,
  emptyInstallation,
  restoreFrom,
  updateChecksums,
  usedInstallation,
} from './testing/installations.ts';

const lastMigration = Object.keys(migrations).sort().at(-1);

describe('restoreBackup (npm run restore) with an unusable backup', () => {
  const backupsFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-backup-'));
  afterAll(() => fs.rmSync(backupsFolder, { recursive: true }));
  let backup: string | null = null;
  /** Creates a copy of a valid backup. @returns its folder */
  const copyBackup = async (name = 'backup') => {
    backup ??= await backUp(await usedInstallation('SQLite'), {
      to: backupsFolder,
      settings: { PORT: '3000' },
    });
    const folder = path.join(temporaryFolder(), name);
    fs.cpSync(backup, folder, { recursive: true });
    return folder;
  };
  const flipBit = (file: string) => {
    const bytes = fs.readFileSync(file);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    fs.writeFileSync(file, bytes);
  };
  it.each<[string, (folder: string) => unknown, string]>([
    [
      'a truncated table',
      (f) => fs.truncateSync(path.join(f, 'tables/audit.ndjson.gz'), 40),
      'tables/audit.ndjson.gz of the backup is damaged',
    ],
    [
      'a flipped bit in a table',
      (f) => flipBit(path.join(f, 'tables/users.ndjson.gz')),
      'tables/users.ndjson.gz of the backup is damaged',
    ],
    [
      'a flipped bit in the manifest',
      (f) => flipBit(path.join(f, 'manifest.json')),
      'manifest.json of the backup is damaged',
    ],
    [
      'a flipped bit in the settings file',
      (f) => flipBit(path.join(f, 'settings.env')),
      'settings.env of the backup is damaged',
    ],
    [
      'a missing table',
      (f) => fs.rmSync(path.join(f, 'tables/images.ndjson.gz')),
      'tables/images.ndjson.gz of the backup is missing',
    ],
    [
      'a missing key file',
      (f) => fs.rmSync(path.join(f, 'secret.key')),
      'secret.key of the backup is missing',
    ],
    ['no checksum file', (f) => fs.rmSync(path.join(f, 'SHA256SUMS')), 'is not a backup'],
    [
      'a truncated checksum file',
      (f) => fs.truncateSync(path.join(f, 'SHA256SUMS'), 100),
      'list of checksums is damaged',
    ],
    [
      'a table without a checksum',
      (f) => {
        const sums = path.join(f, 'SHA256SUMS');
        fs.writeFileSync(sums, fs.readFileSync(sums, 'utf8').replace(/.*users.*\n/, ''));
      },
      'tables/users.ndjson.gz is not in the backup',
    ],
    [
      'a removed row and updated checksums',
      async (f) => {
        const file = path.join(f, 'tables/audit.ndjson.gz');
        const lines = gunzipSync(fs.readFileSync(file)).toString().split('\n');
        fs.writeFileSync(file, gzipSync(lines.slice(1).join('\n')));
        await updateChecksums(f);
      },
      'tables/audit.ndjson.gz does not match the manifest',
    ],
    [
      'a checksum line for a file outside the backup folder',
      async (f) => {
        const sums = path.join(f, 'SHA256SUMS');
        fs.appendFileSync(sums, `${'0'.repeat(64)}  uploads/../../evil\n`);
      },
      'which is outside the backup',
    ],
    [
      'a newer format version',
      async (f) => {
        changeManifest(f, (manifest) =>
          Object.assign(manifest, { formatVersion: 2, programVersion: '9.0.0' }),
        );
        await updateChecksums(f);
      },
      `The backup was made by version 9.0.0 of this program (last migration: ${lastMigration}); this is version`,
    ],
    [
      'a newer schema version',
      async (f) => {
        changeManifest(f, (manifest) =>
          Object.assign(manifest, { schema: '9999-later', programVersion: '9.0.0' }),
        );
        await updateChecksums(f);
      },
      'The backup was made by version 9.0.0 of this program (last migration: 9999-later)',
    ],
  ])('throws an error and writes nothing for a backup with %s', async (_, damage, reason) => {
    const folder = await copyBackup();
    await damage(folder);
    const target = await emptyInstallation('SQLite');
    await expect(restoreFrom(target, folder)).rejects.toThrow(reason);
    expect(fs.readdirSync(target.config.dataDir)).toEqual([]);
  });

  it('throws an error for an unfinished backup, whose folder name ends in .unfinished', async () => {
    const folder = await copyBackup('backup.unfinished');
    await expect(restoreFrom(await emptyInstallation('SQLite'), folder)).rejects.toThrow(
      'is an unfinished backup',
    );
  });
});
