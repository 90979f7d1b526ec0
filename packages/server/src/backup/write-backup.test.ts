import fs from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../auditing/chain-check.ts';
import { insertAuditRow } from '../store/audit.ts';
import { change } from '../store/database.ts';
import { temporaryFolder } from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { sha256Of } from './checksums.ts';
import {
  backUp,
  bringBack,
  clock,
  emptyInstallation,
  trailOf,
  usedInstallation,
} from './testing/installations.ts';

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
          .map(String)
          .filter((uid) => uid.startsWith('w-'));
        const digests = (await db.selectFrom('digests').select('name').execute()).map(({ name }) => name);
        expect(new Set(digests.filter((name) => name.startsWith('w-')))).toEqual(new Set(names));
        expect(new Set(names).size).toBe(names.length);
        counts.push(names.length);
      });
    }
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBe(3);
  });
});
