import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { createEmbeddedSignIn } from '../sign-in/embedded-sign-in.ts';
import {
  allRowsOf,
  loadOldDatabase,
  readWithoutMigrating,
  temporaryFolder,
} from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { cheapPasswords } from '../testing/cheap-passwords.ts';
import { damageTable } from '../testing/damage-table.ts';
import { tablesClearedByRestore } from './backup-format.ts';
import {
  auditRowsOf,
  backUp,
  clock,
  email,
  emptyInstallation,
  installationAt,
  log,
  replaceRows,
  restoreFrom,
  stableTables,
  usedInstallation,
} from './testing/installations.ts';

const databasePairs = databaseKinds.flatMap((from) => databaseKinds.map((to) => [from, to] as const));

describe.each(databasePairs)(
  'restoreBackup (npm run restore) from a %s database to a %s database',
  (from, to) => {
    it('restores all data, ends all sign-ins and image sessions (credentials for tiles), and keeps passwords valid', async () => {
      const source = await usedInstallation(from);
      const [before, auditRows] = await source.read(
        async (db) => [await allRowsOf(db), await auditRowsOf(db)] as const,
      );
      const folder = await backUp(source);
      const target = await emptyInstallation(to);
      const output = await restoreFrom(target, folder);

      const after = await target.read(allRowsOf);
      expect(stableTables(after)).toEqual(stableTables(before));
      expect(before.get('tokens')).not.toHaveLength(0);
      for (const name of tablesClearedByRestore) expect(after.get(name) ?? [], name).toHaveLength(0);
      expect(output).toContain('counts and hashes agree');
      expect(output).toContain(`The audit log is intact: ${auditRows.length} entries.`);
      expect(fs.readFileSync(path.join(target.config.dataDir, 'secret.key'), 'utf8')).toBe(
        fs.readFileSync(path.join(source.config.dataDir, 'secret.key'), 'utf8'),
      );

      const db = await target.open();
      onTestFinished(() => db.destroy());
      const auditRowsNow = await auditRowsOf(db);
      expect(auditRowsNow.slice(0, auditRows.length)).toEqual(auditRows);
      expect(auditRowsNow.slice(auditRows.length)).toMatchObject([{ action: 'backup-restored' }]);
      expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: auditRows.length + 1 });
      const signIn = createEmbeddedSignIn({ db, log, now: clock, passwordCost: cheapPasswords });
      const browser = { address: '203.0.113.7', browser: null };
      const { token } = await signIn.signIn(email, source.password, browser, async () => {});
      expect(await signIn.resolveToken(token)).toMatchObject({ user: { email, role: 'admin' } });
    });
  },
);

describe.each(databaseKinds)(
  'restoreBackup (npm run restore) into an installation in use (database: %s)',
  (kind) => {
    it('throws an error with the numbers of accounts, slides and audit events that would be lost, unless the option --replace is set', async () => {
      const folder = await backUp(await usedInstallation('SQLite'));
      const target = await usedInstallation(kind);
      const db = await target.open();
      await db.insertInto('digests').values({ name: 'since', sent_at: '' }).execute(); // the backup does not have this row
      await db.destroy();
      const before = await target.read(allRowsOf);
      await expect(restoreFrom(target, folder)).rejects.toThrow(
        'The database holds 4 accounts, 5 catalogue entries and 6 audit events, which would be lost. Use --replace to replace them.',
      );
      expect(await target.read(allRowsOf)).toEqual(before);

      const output = await restoreFrom(target, folder, { replace: true });
      expect((await target.read(allRowsOf)).get('digests')).toHaveLength(1);
      if (kind === 'PostgreSQL') return;
      const previousFile = path.join(target.config.dataDir, 'lamina.db.before-restore');
      expect(output).toContain(previousFile);
      expect(await readWithoutMigrating({ url: null, file: previousFile }, allRowsOf)).toEqual(before);
      expect(fs.existsSync(path.join(target.config.dataDir, 'secret.key.before-restore'))).toBe(true);
    });

    it('leaves the installation unchanged when rows of the backup violate a foreign key', async () => {
      const folder = await backUp(await usedInstallation('SQLite'));
      await replaceRows(folder, 'users', (lines) => lines.slice(1));
      const target = await usedInstallation(kind);
      const before = await target.read(allRowsOf);
      await expect(restoreFrom(target, folder, { replace: true })).rejects.toThrow(
        /^Table \w+ could not be filled: .*foreign key/i,
      );
      expect(await target.read(allRowsOf)).toEqual(before);
      const leftovers = fs.readdirSync(target.config.dataDir).filter((name) => name.includes('restor'));
      expect(leftovers).toEqual([]);
    });

    it('throws an error, changes nothing and copies no uploaded slide while another process has the database open', async () => {
      const source = await usedInstallation('SQLite');
      const slide = 'uploads/slides/Kolon/a.svs';
      fs.mkdirSync(path.dirname(path.join(source.config.dataDir, slide)), { recursive: true });
      fs.writeFileSync(path.join(source.config.dataDir, slide), 'pixels');
      const folder = await backUp(source, { withUploads: true });
      const target = await usedInstallation(kind);
      const running = await target.open();
      onTestFinished(() => running.destroy());
      await running.selectFrom('users').select('uid').execute();
      await expect(restoreFrom(target, folder, { replace: true })).rejects.toThrow(
        /stop the servers? first|A program has the database open/i,
      );
      expect(await running.selectFrom('users').select('uid').execute()).toHaveLength(4);
      expect(fs.existsSync(path.join(target.config.dataDir, slide))).toBe(false);
    });
  },
);

describe('restoreBackup (npm run restore)', () => {
  it('applies newer migrations to a backup of an older version', async () => {
    const dataDir = temporaryFolder();
    const source = installationAt(await loadOldDatabase('0008', 'SQLite', dataDir), dataDir, {});
    const before = await source.read(allRowsOf);
    const folder = await backUp(source);
    const target = await emptyInstallation('SQLite');
    await restoreFrom(target, folder);
    const after = await target.read(allRowsOf);
    for (const [name, rows] of Object.entries(stableTables(before))) {
      // Migration 0017 computes the search text again, without diacritics.
      const unchanged = rows.map((row) => ({
        ...row,
        ...(name === 'images' && { search_text: expect.any(String) as unknown }),
      }));
      expect(after.get(name), name).toEqual(unchanged.map((row) => expect.objectContaining(row)));
    }
    expect(after.get('schema_changes')).not.toHaveLength(0);
  });

  it('replaces a database file of the installation that cannot be read, and keeps a copy of the file', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const target = await emptyInstallation('SQLite');
    const file = path.join(target.config.dataDir, 'lamina.db');
    fs.writeFileSync(file, 'This was a database once, and is a text that is long enough.');
    fs.writeFileSync(`${file}-wal`, 'Changes of it.');
    await restoreFrom(target, folder);
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
    expect((await target.read(allRowsOf)).get('users')).toHaveLength(4);
    expect(fs.readFileSync(`${file}.before-restore`, 'utf8')).toContain('once');
  });

  it('replaces a database in which only the pages of the accounts are damaged', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const target = await usedInstallation('SQLite');
    const file = path.join(target.config.dataDir, 'lamina.db');
    damageTable(file, 'users');
    await restoreFrom(target, folder);
    expect((await target.read(allRowsOf)).get('users')).toHaveLength(4);
  });

  it.skipIf(!databaseKinds.includes('PostgreSQL'))(
    'leaves the installation unchanged when its database cannot store a value of the backup',
    async () => {
      const source = await usedInstallation('SQLite');
      const db = await source.open();
      await db.updateTable('users').set({ display_name: 'a\u0000b' }).where('uid', '=', 'u-new').execute();
      await db.destroy();
      const folder = await backUp(source);
      const target = await usedInstallation('PostgreSQL');
      const before = await target.read(allRowsOf);
      await expect(restoreFrom(target, folder, { replace: true })).rejects.toThrow(
        'Table users, uid "u-new": display_name holds a NUL character, which PostgreSQL cannot keep.',
      );
      expect(await target.read(allRowsOf)).toEqual(before);
    },
  );

  it('prints the names (not the values) of settings that differ from the backup, and the number of missing slide files', async () => {
    const source = await usedInstallation('SQLite');
    const folder = await backUp(source, { settings: { SMTP_URL: 'smtp://u:secret@a', PORT: '3000' } });
    const target = await emptyInstallation('SQLite');
    const output = await restoreFrom(target, folder, {
      settings: { SMTP_URL: 'smtp://u:other@a', PORT: '3000', WORKERS: '2' },
    });
    expect(output).toContain('Settings that differ from the backup: SMTP_URL, WORKERS.');
    expect(output).not.toMatch(/secret@|other@/);
    expect(output).toContain('Missing slide files: 3 slides');
  });

  it('succeeds when SECRET_KEY is set to the key in the key file of the backup', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const key = fs.readFileSync(path.join(folder, 'secret.key'), 'utf8').trim();
    expect(await restoreFrom(await emptyInstallation('SQLite', { SECRET_KEY: key }), folder)).toContain(
      'Restored.',
    );
  });

  it.each([
    [
      'another SECRET_KEY than the settings of the backup',
      'k'.repeat(32),
      'o'.repeat(32),
      'are encrypted with the SECRET_KEY of its settings',
    ],
    [
      'no SECRET_KEY although the settings of the backup have one',
      'k'.repeat(32),
      '',
      'are encrypted with the SECRET_KEY of its settings',
    ],
    [
      'a SECRET_KEY that differs from the key file of the backup',
      '',
      'o'.repeat(32),
      'are encrypted with another key',
    ],
  ])('throws an error when the installation has %s', async (_, backupKey, targetKey, reason) => {
    const source = await usedInstallation('SQLite', { SECRET_KEY: backupKey });
    const folder = await backUp(source, { settings: backupKey === '' ? {} : { SECRET_KEY: backupKey } });
    const target = await emptyInstallation('SQLite', { SECRET_KEY: targetKey });
    await expect(restoreFrom(target, folder)).rejects.toThrow(reason);
  });
});
