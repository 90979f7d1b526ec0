import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import pino from 'pino';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAudit } from '../audit.ts';
import { checkChain } from '../auditing/chain-check.ts';
import { type Config, readConfig } from '../config.ts';
import { restoreAdmin } from '../first-admin.ts';
import { createSealing } from '../sealing.ts';
import { createEmbeddedSignIn } from '../sign-in/embedded.ts';
import { insertAuditRow } from '../store/audit.ts';
import { change, type Database, openDatabase } from '../store/database.ts';
import {
  type AnyRow,
  emptyPlace,
  everythingIn,
  loadOldDatabase,
  lookedAt,
  temporaryFolder,
} from '../store/testing/old-databases.ts';
import { type DatabaseKind, databaseKinds } from '../store/testing/test-database.ts';
import { cheapPasswords } from '../testing/cheap-passwords.ts';
import { endsWithReturn } from './backup-format.ts';
import { sha256Of, writeChecksums } from './checksums.ts';
import { restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

const log = pino({ level: 'silent' });
const clock = () => new Date('2026-06-01T12:00:00.000Z');
const email = 'yönetici@example.org';

interface Installation {
  readonly config: Config;
  readonly open: () => Promise<Database>;
  readonly look: <T>(look: (db: Database) => Promise<T>) => Promise<T>;
}

function installationAt(place: { readonly url: string | null }, dataDir: string, env: NodeJS.ProcessEnv) {
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
async function emptyInstallation(kind: DatabaseKind, env: NodeJS.ProcessEnv = {}): Promise<Installation> {
  const dataDir = temporaryFolder();
  return installationAt(await emptyPlace(kind, dataDir), dataDir, env);
}

/** Rows in every table, and an administrator whose password is known. */
async function usedInstallation(
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

function backUp(
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

async function bringBack(
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
function kept(all: ReadonlyMap<string, readonly AnyRow[]>): Record<string, readonly AnyRow[]> {
  const own = new Set(['audit', 'audit_chain', 'locks', 'schema_changes']);
  return Object.fromEntries([...all].filter(([name]) => !endsWithReturn.has(name) && !own.has(name)));
}

async function trailOf(db: Database): Promise<AnyRow[]> {
  return (await db.selectFrom('audit').selectAll().orderBy('seq').execute()).map((row) => ({ ...row }));
}

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

describe.each(databaseKinds)('a backup while others write to %s', (kind) => {
  it('is of one moment', async () => {
    const there = await usedInstallation(kind);
    const writer = await there.open();
    onTestFinished(() => writer.destroy());
    let isDone = false;
    let written = 0;
    // Two tables in one change: a backup has both or neither.
    const writing = (async () => {
      while (!isDone) {
        const name = `w-${++written}`;
        await change(writer, 'audit', async (tx) => {
          await insertAuditRow(tx, {
            ...{ at: clock().toISOString(), action: 'sign-in', result: 'done', actor_uid: name },
            ...{ target: null, detail: '{}', address: null, request_id: null },
          });
          await tx.insertInto('digests').values({ name, sent_at: clock().toISOString() }).execute();
        });
        await new Promise(setImmediate);
      }
    })();
    const folders: string[] = [];
    while (folders.length < 3) {
      const sofar = written;
      folders.push(await backUp(there));
      await expect.poll(() => written, { timeout: 60_000 }).toBeGreaterThan(sofar + 5);
    }
    isDone = true;
    await writing;

    const counts: number[] = [];
    for (const folder of folders) {
      const here = await emptyInstallation('SQLite');
      await bringBack(here, folder);
      await here.look(async (db) => {
        expect(await checkChain(db)).toMatchObject({ state: 'intact' });
        const names = (await trailOf(db))
          .map(({ actor_uid: uid }) => uid)
          .filter((uid) => /^w-/.test(String(uid)));
        const digests = (await db.selectFrom('digests').select('name').execute()).map(({ name }) => name);
        expect(digests.filter((name) => name.startsWith('w-')).sort()).toEqual([...names].sort());
        counts.push(names.length);
      });
    }
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBe(3);
  });
});

describe('a backup', () => {
  it('is for its owner alone, and can be checked by any program', async () => {
    const there = await usedInstallation('SQLite');
    const folder = await backUp(there, { settings: { SMTP_URL: 'smtp://a:secret@b' } });
    expect(path.basename(folder)).toBe('lamina-backup-20260601T120000Z');
    const files = fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(folder, name));
    for (const file of [folder, ...files]) expect(fs.statSync(file).mode & 0o077, file).toBe(0);
    for (const line of fs.readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, name] = line.split('  ');
      expect(await sha256Of(path.join(folder, name ?? ''))).toBe(sum);
    }
  });

  it('names the slides it does not hold', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const lines = fs.readFileSync(path.join(folder, 'slides.csv'), 'utf8').split('\r\n');
    expect(lines[0]).toBe('root,path,size_bytes,fingerprint,removed_at,missing_since');
    expect(lines).toContain(
      'slides,Meme/büyük.ndpi,4503599627370496,f-22222222-2222-4222-8222-222222222222,,',
    );
  });

  it('holds the settings as they were given', async () => {
    const settings = {
      PRODUCT_NAME: "Patoloji 'A' #1",
      SMTP_URL: 'smtp://u:p%40"ss@mail.example.org:587',
      TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1',
      MAIL_FROM: 'a `b` "c" <x@example.org>',
      ADMIN_PASSWORD: ' with spaces\\n ',
    };
    const folder = await backUp(await usedInstallation('SQLite'), { settings });
    expect(parseEnv(fs.readFileSync(path.join(folder, 'settings.env'), 'utf8'))).toEqual(settings);
  });

  it('is there whole or not at all', async () => {
    const there = await usedInstallation('SQLite');
    const to = temporaryFolder();
    fs.rmSync(path.join(there.config.dataDir, 'secret.key'));
    fs.mkdirSync(path.join(there.config.dataDir, 'secret.key')); // cannot be read as a file
    await expect(backUp(there, { to })).rejects.toThrow();
    expect(fs.readdirSync(to)).toEqual([]);
  });

  it('takes the place of the oldest, where only so many are kept; other folders stay', async () => {
    const there = await usedInstallation('SQLite');
    const to = temporaryFolder();
    const old = [
      'lamina-backup-20260101T000000Z',
      'lamina-backup-20260301T000000Z',
      'lamina-backup-20260201T000000Z.unfinished',
      'other',
    ];
    for (const name of old) fs.mkdirSync(path.join(to, name));
    await backUp(there, { to, keep: 2 });
    expect(fs.readdirSync(to).sort()).toEqual([
      'lamina-backup-20260301T000000Z',
      'lamina-backup-20260601T120000Z',
      'other',
    ]);
  });

  it('says so where there is nothing', async () => {
    await expect(backUp(await emptyInstallation('SQLite'))).rejects.toThrow('There is nothing to back up');
  });

  it('holds uploaded slides where they are asked for', async () => {
    const there = await usedInstallation('SQLite');
    const file = path.join(there.config.dataDir, 'uploads/slides/Kolon/çift satır.svs');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, 'pixels');
    const said: string[] = [];
    await backUp(there, { say: (sentence) => said.push(sentence) });
    expect(said.join()).toContain('Uploaded slides are not in it');
    const folder = await backUp(there, { withUploads: true });
    const here = await emptyInstallation('SQLite');
    await bringBack(here, folder);
    expect(
      fs.readFileSync(path.join(here.config.dataDir, 'uploads/slides/Kolon/çift satır.svs'), 'utf8'),
    ).toBe('pixels');
  });
});

describe('a backup that is not as it was', () => {
  const to = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-backup-'));
  afterAll(() => fs.rmSync(to, { recursive: true }));
  let whole: string | null = null;
  /** Of one backup that is good. */
  const copy = async (name = 'backup') => {
    whole ??= await backUp(await usedInstallation('SQLite'), { to, settings: { PORT: '3000' } });
    const folder = path.join(temporaryFolder(), name);
    fs.cpSync(whole, folder, { recursive: true });
    return folder;
  };
  const flip = (file: string) => {
    const bytes = fs.readFileSync(file);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    fs.writeFileSync(file, bytes);
  };
  /** As whoever damages a backup and makes the list of checksums anew. */
  const sealAnew = async (folder: string) => {
    const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const sums = new Map<string, string>();
    for (const name of names.filter((each) => each !== 'SHA256SUMS').sort()) {
      if (fs.statSync(path.join(folder, name)).isFile())
        sums.set(name, await sha256Of(path.join(folder, name)));
    }
    fs.writeFileSync(path.join(folder, 'SHA256SUMS'), writeChecksums(sums));
  };
  const manifest = (folder: string, change: (manifest: Record<string, unknown>) => void) => {
    const file = path.join(folder, 'manifest.json');
    const said = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    change(said);
    fs.writeFileSync(file, JSON.stringify(said));
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
    ['no checksums', (f) => fs.rmSync(path.join(f, 'SHA256SUMS')), 'is no backup'],
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
      'a row less, sealed anew',
      async (f) => {
        const file = path.join(f, 'tables/audit.ndjson.gz');
        const lines = gunzipSync(fs.readFileSync(file)).toString().split('\n');
        fs.writeFileSync(file, gzipSync(lines.slice(1).join('\n')));
        await sealAnew(f);
      },
      'tables/audit.ndjson.gz does not hold what the backup says it does',
    ],
    [
      'a place outside of it',
      async (f) => {
        const sums = path.join(f, 'SHA256SUMS');
        fs.appendFileSync(sums, `${'0'.repeat(64)}  uploads/../../evil\n`);
      },
      'which is outside the backup',
    ],
    [
      'a newer format',
      async (f) => {
        manifest(f, (said) => Object.assign(said, { formatVersion: 2, programVersion: '9.0.0' }));
        await sealAnew(f);
      },
      'The backup was made by version 9.0.0 of this program (its tables are at 0013-schema-changes); this is version',
    ],
    [
      'newer tables',
      async (f) => {
        manifest(f, (said) => Object.assign(said, { schema: '9999-later', programVersion: '9.0.0' }));
        await sealAnew(f);
      },
      'The backup was made by version 9.0.0 of this program (its tables are at 9999-later)',
    ],
  ])('because of %s is refused before anything is written', async (_, damage, reason) => {
    const folder = await copy();
    await damage(folder);
    const here = await emptyInstallation('SQLite');
    await expect(bringBack(here, folder)).rejects.toThrow(reason);
    expect(fs.readdirSync(here.config.dataDir)).toEqual([]);
  });

  it('because it was never finished is refused', async () => {
    const folder = await copy('backup.unfinished');
    await expect(bringBack(await emptyInstallation('SQLite'), folder)).rejects.toThrow('was never finished');
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

  it('leaves everything as it was when a value cannot be kept', async () => {
    if (!databaseKinds.includes('PostgreSQL')) return;
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
  });

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

  it.each([
    ['another SECRET_KEY', 'k'.repeat(32), 'o'.repeat(32), 'are sealed with the SECRET_KEY of its settings'],
    ['no SECRET_KEY', 'k'.repeat(32), '', 'are sealed with the SECRET_KEY of its settings'],
    ['a SECRET_KEY where there was a key file', '', 'o'.repeat(32), 'are sealed with its secret.key'],
  ])('is refused with %s', async (_, then, now, reason) => {
    const there = await usedInstallation('SQLite', { SECRET_KEY: then });
    const folder = await backUp(there, { settings: then === '' ? {} : { SECRET_KEY: then } });
    const here = await emptyInstallation('SQLite', { SECRET_KEY: now });
    await expect(bringBack(here, folder)).rejects.toThrow(reason);
  });
});
