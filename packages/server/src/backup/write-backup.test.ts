import fs from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { insertAuditRow } from '../store/audit.ts';
import { runLockedTransaction } from '../store/database.ts';
import { executeIn, temporaryFolder } from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { sha256Of } from './checksums.ts';
import {
  auditRowsOf,
  backUp,
  clock,
  emptyInstallation,
  restoreFrom,
  usedInstallation,
} from './testing/installations.ts';

describe('writeBackup (npm run backup)', () => {
  it('creates files that only the owner can read, and checksums in sha256sum format', async () => {
    const source = await usedInstallation('SQLite');
    const folder = await backUp(source, { settings: { SMTP_URL: 'smtp://a:secret@b' } });
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

  it('writes a CSV list of the slides in the catalogue', async () => {
    const folder = await backUp(await usedInstallation('SQLite'));
    const lines = fs.readFileSync(path.join(folder, 'slides.csv'), 'utf8').split('\r\n');
    expect(lines[0]).toBe('root,path,size_bytes,fingerprint,removed_at,missing_since');
    expect(lines).toContain(
      'slides,Meme/büyük.ndpi,4503599627370496,f-22222222-2222-4222-8222-222222222222,,',
    );
  });

  it('writes a slide file name that begins with = into the CSV list with an apostrophe before it', async () => {
    const source = await usedInstallation('SQLite');
    const database = path.join(source.config.dataDir, 'lamina.db');
    executeIn(database, "update images set path = '=1+1.svs' where path = 'Meme/büyük.ndpi'");
    const list = fs.readFileSync(path.join(await backUp(source), 'slides.csv'), 'utf8');
    expect(list).toContain("slides,'=1+1.svs,");
  });

  it('writes a settings file from which parseEnv reads the same values, including quotes and spaces', async () => {
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

  it('warns that the backup lacks the key that encrypts second factors and queued e-mails, when the key file is missing', async () => {
    const source = await usedInstallation('SQLite');
    fs.rmSync(path.join(source.config.dataDir, 'secret.key'));
    const output: string[] = [];
    await backUp(source, { printLine: (sentence) => output.push(sentence) });
    expect(output.join()).toMatch(
      /lacks the key that encrypts \d+ second factors and [1-9]\d* queued e-mails/,
    );
  });

  it('leaves no backup folder when the key file cannot be read', async () => {
    const source = await usedInstallation('SQLite');
    const to = temporaryFolder();
    fs.rmSync(path.join(source.config.dataDir, 'secret.key'));
    fs.mkdirSync(path.join(source.config.dataDir, 'secret.key')); // cannot be read as a file
    await expect(backUp(source, { to })).rejects.toThrow();
    expect(fs.readdirSync(to)).toEqual([]);
  });

  it('with the option keep: 2, deletes abandoned unfinished backups and all but the newest two backups, and leaves other folders unchanged', async () => {
    const source = await usedInstallation('SQLite');
    const to = temporaryFolder();
    const existingFolders = [
      'lamina-backup-20260101T000000Z',
      'lamina-backup-20260301T000000Z',
      'lamina-backup-20260201T000000Z.unfinished',
      'other',
    ];
    for (const name of existingFolders) fs.mkdirSync(path.join(to, name));
    const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
    fs.utimesSync(path.join(to, 'lamina-backup-20260201T000000Z.unfinished'), twoHoursAgo, twoHoursAgo);
    await backUp(source, { to, keep: 2 });
    expect(fs.readdirSync(to).sort()).toEqual([
      'lamina-backup-20260301T000000Z',
      'lamina-backup-20260601T120000Z',
      'other',
    ]);
  });

  it('with the option keep: 1, leaves the unfinished folder of an earlier backup that still runs', async () => {
    const to = temporaryFolder();
    const running = 'lamina-backup-20260101T000000Z.unfinished';
    fs.mkdirSync(path.join(to, running));
    await backUp(await usedInstallation('SQLite'), { to, keep: 1 });
    expect(fs.readdirSync(to).sort()).toEqual([running, 'lamina-backup-20260601T120000Z']);
  });

  it('renews the modification time of its unfinished folder every minute, so that other backups do not delete it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const to = temporaryFolder();
    let renewedAt = 0;
    const source = await usedInstallation('SQLite');
    const folderName = 'lamina-backup-20260601T120000Z.unfinished';
    await backUp(source, {
      to,
      // Called when the tables are written, before the backup is finished.
      printLine: () => {
        if (renewedAt > 0) return;
        const folder = path.join(to, folderName);
        fs.utimesSync(folder, 1, 1);
        vi.advanceTimersByTime(60_000);
        const deadline = Date.now() + 10_000;
        while (fs.statSync(folder).mtimeMs < 2000 && Date.now() < deadline);
        renewedAt = fs.statSync(folder).mtimeMs;
      },
    });
    expect(renewedAt).toBeGreaterThan(Date.now() - 60_000);
  });

  it('with the option keep: 1, keeps the new backup in addition to a backup whose name contains a later time', async () => {
    const to = temporaryFolder();
    for (const day of ['20260101', '20270101']) fs.mkdirSync(path.join(to, `lamina-backup-${day}T000000Z`));
    await backUp(await usedInstallation('SQLite'), { to, keep: 1 });
    expect(fs.readdirSync(to).sort()).toEqual([
      'lamina-backup-20260601T120000Z',
      'lamina-backup-20270101T000000Z',
    ]);
  });

  it('writes two complete backups when two are started into one folder at the same time', async () => {
    const source = await usedInstallation('SQLite');
    const to = temporaryFolder();
    const folders = await Promise.all([backUp(source, { to }), backUp(source, { to })]);
    const names = ['lamina-backup-20260601T120000Z', 'lamina-backup-20260601T120000Z-2'];
    expect(folders.map((folder) => path.basename(folder)).sort()).toEqual(names);
    expect(fs.readdirSync(to).sort()).toEqual(names);
    for (const folder of folders) await restoreFrom(await emptyInstallation('SQLite'), folder);
  });

  it('leaves out an uploaded slide that is deleted while the slides are copied', async () => {
    const source = await usedInstallation('SQLite');
    const slides = path.join(source.config.dataDir, 'uploads/slides/Kolon');
    fs.mkdirSync(slides, { recursive: true });
    const names = Array.from({ length: 200 }, (_, i) => `${String(i).padStart(3, '0')}.svs`);
    for (const name of names) fs.writeFileSync(path.join(slides, name), 'pixels');
    const to = temporaryFolder();
    const isFirstCopied = () =>
      (fs.readdirSync(to, { recursive: true, encoding: 'utf8' }) as string[]).some((name) =>
        name.endsWith('000.svs'),
      );
    const timer = setInterval(() => {
      if (!isFirstCopied()) return;
      clearInterval(timer);
      fs.rmSync(path.join(slides, '199.svs'));
    }, 1);
    onTestFinished(() => clearInterval(timer));
    const folder = await backUp(source, { to, withUploads: true });
    expect(fs.readdirSync(path.join(folder, 'uploads/Kolon'))).toEqual(names.slice(0, -1));
  });

  it('throws an error when the installation has no database', async () => {
    await expect(backUp(await emptyInstallation('SQLite'))).rejects.toThrow('There is nothing to back up');
  });

  it('includes uploaded slides only when the option withUploads is set', async () => {
    const source = await usedInstallation('SQLite');
    const file = path.join(source.config.dataDir, 'uploads/slides/Kolon/çift satır.svs');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, 'pixels');
    const output: string[] = [];
    await backUp(source, { printLine: (sentence) => output.push(sentence) });
    expect(output.join()).toContain('Uploaded slides and results are not in the backup');
    const folder = await backUp(source, { withUploads: true });
    const target = await emptyInstallation('SQLite');
    await restoreFrom(target, folder);
    expect(
      fs.readFileSync(path.join(target.config.dataDir, 'uploads/slides/Kolon/çift satır.svs'), 'utf8'),
    ).toBe('pixels');
  });

  it('includes the uploaded slides of a dataset named "partial", although the folder of unfinished uploads has the same name', async () => {
    const source = await usedInstallation('SQLite');
    const file = path.join(source.config.dataDir, 'uploads/slides/partial/a.svs');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, 'pixels');
    const folder = await backUp(source, { withUploads: true });
    expect(fs.readFileSync(path.join(folder, 'uploads/partial/a.svs'), 'utf8')).toBe('pixels');
  });
});

describe.each(databaseKinds)(
  'writeBackup (npm run backup) while another connection writes (database: %s)',
  (kind) => {
    it('includes, in each of 3 backups, either both rows or no row of a transaction that writes to two tables', async () => {
      const source = await usedInstallation(kind);
      const writer = await source.open();
      onTestFinished(() => writer.destroy());
      let isDone = false;
      let writtenCount = 0;
      const writing = (async () => {
        while (!isDone) {
          const name = `w-${++writtenCount}`;
          await runLockedTransaction(writer, 'audit', async (tx) => {
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
        const countBefore = writtenCount;
        folders.push(await backUp(source));
        await expect.poll(() => writtenCount, { timeout: 60_000 }).toBeGreaterThan(countBefore + 5);
      }
      isDone = true;
      await writing;

      const counts: number[] = [];
      for (const folder of folders) {
        const target = await emptyInstallation('SQLite');
        await restoreFrom(target, folder);
        await target.read(async (db) => {
          expect(await checkChain(db)).toMatchObject({ state: 'intact' });
          const names = (await auditRowsOf(db))
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
  },
);
