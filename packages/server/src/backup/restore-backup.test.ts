import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../auditing/chain-check.ts';
import { createEmbeddedSignIn } from '../sign-in/embedded.ts';
import { everythingIn, loadOldDatabase, lookedAt, temporaryFolder } from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { cheapPasswords } from '../testing/cheap-passwords.ts';
import { endsWithReturn } from './backup-format.ts';
import {
  backUp,
  bringBack,
  clock,
  email,
  emptyInstallation,
  installationAt,
  kept,
  log,
  replaceRows,
  trailOf,
  usedInstallation,
} from './testing/installations.ts';

const pairs = databaseKinds.flatMap((from) => databaseKinds.map((to) => [from, to] as const));

describe.each(pairs)('a backup of %s, brought back to %s', (from, to) => {
  it('holds everything, ends what was issued, and lets people in with their passwords', async () => {
    const there = await usedInstallation(from);
    const [before, trail] = await there.look(
      async (db) => [await everythingIn(db), await trailOf(db)] as const,
    );
    const folder = await backUp(there);
    const here = await emptyInstallation(to);
    const said = await bringBack(here, folder);

    const after = await here.look(everythingIn);
    expect(kept(after)).toEqual(kept(before));
    expect(before.get('tokens')).not.toHaveLength(0);
    for (const name of endsWithReturn) expect(after.get(name) ?? [], name).toHaveLength(0);
    expect(said).toContain('counts and hashes agree');
    expect(said).toContain(`The audit trail is intact: ${trail.length} entries.`);
    expect(fs.readFileSync(path.join(here.config.dataDir, 'secret.key'), 'utf8')).toBe(
      fs.readFileSync(path.join(there.config.dataDir, 'secret.key'), 'utf8'),
    );

    const db = await here.open();
    onTestFinished(() => db.destroy());
    const trailNow = await trailOf(db);
    expect(trailNow.slice(0, trail.length)).toEqual(trail);
    expect(trailNow.slice(trail.length)).toMatchObject([{ action: 'backup-restored' }]);
    expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: trail.length + 1 });
    const signIn = createEmbeddedSignIn({ db, log, now: clock, passwordCost: cheapPasswords });
    const browser = { address: '203.0.113.7', browser: null };
    const { token } = await signIn.signIn(email, there.password, browser, async () => {});
    expect(await signIn.resolveToken(token)).toMatchObject({ user: { email, role: 'admin' } });
  });
});

describe.each(databaseKinds)('bringing a backup back to an installation that is in use, on %s', (kind) => {
  it('is refused with what would be lost, and done when that is wanted', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const here = await usedInstallation(kind);
    const db = await here.open();
    await db.insertInto('digests').values({ name: 'since', sent_at: '' }).execute();
    await db.destroy();
    const before = await here.look(everythingIn);
    await expect(bringBack(here, folder)).rejects.toThrow(
      'The database holds 4 accounts, 5 catalogue entries and 6 entries of the audit trail, which would be lost. With --replace they are.',
    );
    expect(await here.look(everythingIn)).toEqual(before);

    const said = await bringBack(here, folder, { replace: true });
    expect((await here.look(everythingIn)).get('digests')).toHaveLength(1);
    if (kind === 'PostgreSQL') return;
    const old = path.join(here.config.dataDir, 'lamina.db.before-restore');
    expect(said).toContain(old);
    expect(await lookedAt({ url: null, file: old }, everythingIn)).toEqual(before);
    expect(fs.existsSync(path.join(here.config.dataDir, 'secret.key.before-restore'))).toBe(true);
  });

  it('leaves everything as it was when the rows do not fit together', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    await replaceRows(folder, 'users', (lines) => lines.slice(1));
    const here = await usedInstallation(kind);
    const before = await here.look(everythingIn);
    await expect(bringBack(here, folder, { replace: true })).rejects.toThrow(
      /^Table \w+ could not be filled: .*foreign key/i,
    );
    expect(await here.look(everythingIn)).toEqual(before);
    const left = fs.readdirSync(here.config.dataDir).filter((name) => name.includes('restor'));
    expect(left).toEqual([]);
  });

  it('is refused while a program has the database open', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const here = await usedInstallation(kind);
    const running = await here.open();
    onTestFinished(() => running.destroy());
    await running.selectFrom('users').select('uid').execute();
    await expect(bringBack(here, folder, { replace: true })).rejects.toThrow(/stop the servers? first/);
    expect(await running.selectFrom('users').select('uid').execute()).toHaveLength(4);
  });
});

describe('bringing a backup back', () => {
  it('brings tables of an older version up to date', async () => {
    const dataDir = temporaryFolder();
    const there = installationAt(await loadOldDatabase('0008', 'SQLite', dataDir), dataDir, {});
    const before = await there.look(everythingIn);
    const folder = await backUp(there);
    const here = await emptyInstallation('SQLite');
    await bringBack(here, folder);
    const after = await here.look(everythingIn);
    for (const [name, rows] of Object.entries(kept(before))) {
      expect(after.get(name), name).toEqual(rows.map((row) => expect.objectContaining(row)));
    }
    expect(after.get('schema_changes')).not.toHaveLength(0);
  });

  it('takes the place of a database that cannot be read', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const here = await emptyInstallation('SQLite');
    const file = path.join(here.config.dataDir, 'lamina.db');
    fs.writeFileSync(file, 'This was a database once, and is a text that is long enough.');
    fs.writeFileSync(`${file}-wal`, 'Changes of it.');
    await bringBack(here, folder);
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
    expect((await here.look(everythingIn)).get('users')).toHaveLength(4);
    expect(fs.readFileSync(`${file}.before-restore`, 'utf8')).toContain('once');
  });

  it.skipIf(!databaseKinds.includes('PostgreSQL'))(
    'leaves everything as it was when a value cannot be kept',
    async () => {
      const there = await usedInstallation('SQLite');
      const db = await there.open();
      await db.updateTable('users').set({ display_name: 'a\u0000b' }).where('uid', '=', 'u-new').execute();
      await db.destroy();
      const folder = await backUp(there);
      const here = await usedInstallation('PostgreSQL');
      const before = await here.look(everythingIn);
      await expect(bringBack(here, folder, { replace: true })).rejects.toThrow(
        'Table users, uid "u-new": display_name holds a NUL character, which PostgreSQL cannot keep.',
      );
      expect(await here.look(everythingIn)).toEqual(before);
    },
  );

  it('tells which settings were others, by their names alone, and which slides are not there', async () => {
    const there = await usedInstallation('SQLite');
    const folder = await backUp(there, { settings: { SMTP_URL: 'smtp://u:secret@a', PORT: '3000' } });
    const here = await emptyInstallation('SQLite');
    const said = await bringBack(here, folder, {
      settings: { SMTP_URL: 'smtp://u:other@a', PORT: '3000', WORKERS: '2' },
    });
    expect(said).toContain('Settings that were others then: SMTP_URL, WORKERS.');
    expect(said).not.toMatch(/secret@|other@/);
    expect(said).toContain('Not where the catalogue looks for them: 3 slides');
  });

  it('takes the key of the backup as SECRET_KEY, too', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const key = fs.readFileSync(path.join(folder, 'secret.key'), 'utf8').trim();
    expect(await bringBack(await emptyInstallation('SQLite', { SECRET_KEY: key }), folder)).toContain(
      'Restored.',
    );
  });

  it.each([
    ['another SECRET_KEY', 'k'.repeat(32), 'o'.repeat(32), 'are sealed with the SECRET_KEY of its settings'],
    ['no SECRET_KEY', 'k'.repeat(32), '', 'are sealed with the SECRET_KEY of its settings'],
    ['a SECRET_KEY where there was a key file', '', 'o'.repeat(32), 'are sealed with another key'],
  ])('is refused with %s', async (_, then, now, reason) => {
    const there = await usedInstallation('SQLite', { SECRET_KEY: then });
    const folder = await backUp(there, { settings: then === '' ? {} : { SECRET_KEY: then } });
    const here = await emptyInstallation('SQLite', { SECRET_KEY: now });
    await expect(bringBack(here, folder)).rejects.toThrow(reason);
  });
});
