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

describe('restoreBackup of a damaged backup', () => {
  const to = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-backup-'));
  afterAll(() => fs.rmSync(to, { recursive: true }));
  let backup: string | null = null;
  /** Returns the folder of a copy of one valid backup. */
  const copy = async (name = 'backup') => {
    backup ??= await backUp(await usedInstallation('SQLite'), { to, settings: { PORT: '3000' } });
    const folder = path.join(temporaryFolder(), name);
    fs.cpSync(backup, folder, { recursive: true });
    return folder;
  };
  const flip = (file: string) => {
    const bytes = fs.readFileSync(file);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    fs.writeFileSync(file, bytes);
  };
  it.each<[string, (folder: string) => unknown, string]>([
    [
      'a cut table',
      (f) => fs.truncateSync(path.join(f, 'tables/audit.ndjson.gz'), 40),
      'tables/audit.ndjson.gz of the backup is damaged',
    ],
    [
      'a flipped bit in a table',
      (f) => flip(path.join(f, 'tables/users.ndjson.gz')),
      'tables/users.ndjson.gz of the backup is damaged',
    ],
    [
      'a flipped bit in the manifest',
      (f) => flip(path.join(f, 'manifest.json')),
      'manifest.json of the backup is damaged',
    ],
    [
      'a flipped bit in the settings',
      (f) => flip(path.join(f, 'settings.env')),
      'settings.env of the backup is damaged',
    ],
    [
      'a missing table',
      (f) => fs.rmSync(path.join(f, 'tables/images.ndjson.gz')),
      'tables/images.ndjson.gz of the backup is missing',
    ],
    ['a missing key', (f) => fs.rmSync(path.join(f, 'secret.key')), 'secret.key of the backup is missing'],
    ['no checksums', (f) => fs.rmSync(path.join(f, 'SHA256SUMS')), 'is not a backup'],
    [
      'cut checksums',
      (f) => fs.truncateSync(path.join(f, 'SHA256SUMS'), 100),
      'list of checksums is damaged',
    ],
    [
      'checksums of fewer files',
      (f) => {
        const sums = path.join(f, 'SHA256SUMS');
        fs.writeFileSync(sums, fs.readFileSync(sums, 'utf8').replace(/.*users.*\n/, ''));
      },
      'tables/users.ndjson.gz is not in the backup',
    ],
    [
      'a missing row with new checksums',
      async (f) => {
        const file = path.join(f, 'tables/audit.ndjson.gz');
        const lines = gunzipSync(fs.readFileSync(file)).toString().split('\n');
        fs.writeFileSync(file, gzipSync(lines.slice(1).join('\n')));
        await updateChecksums(f);
      },
      'tables/audit.ndjson.gz does not match the manifest',
    ],
    [
      'a file outside of the folder',
      async (f) => {
        const sums = path.join(f, 'SHA256SUMS');
        fs.appendFileSync(sums, `${'0'.repeat(64)}  uploads/../../evil\n`);
      },
      'which is outside the backup',
    ],
    [
      'a newer format',
      async (f) => {
        changeManifest(f, (manifest) =>
          Object.assign(manifest, { formatVersion: 2, programVersion: '9.0.0' }),
        );
        await updateChecksums(f);
      },
      `The backup was made by version 9.0.0 of this program (its tables are at ${lastMigration}); this is version`,
    ],
    [
      'newer tables',
      async (f) => {
        changeManifest(f, (manifest) =>
          Object.assign(manifest, { schema: '9999-later', programVersion: '9.0.0' }),
        );
        await updateChecksums(f);
      },
      'The backup was made by version 9.0.0 of this program (its tables are at 9999-later)',
    ],
  ])('refuses %s before it writes anything', async (_, damage, reason) => {
    const folder = await copy();
    await damage(folder);
    const here = await emptyInstallation('SQLite');
    await expect(restoreFrom(here, folder)).rejects.toThrow(reason);
    expect(fs.readdirSync(here.config.dataDir)).toEqual([]);
  });

  it('refuses a backup whose writing was not finished', async () => {
    const folder = await copy('backup.unfinished');
    await expect(restoreFrom(await emptyInstallation('SQLite'), folder)).rejects.toThrow(
      'is an unfinished backup',
    );
  });
});
