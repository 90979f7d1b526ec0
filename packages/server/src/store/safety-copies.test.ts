import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from './database.ts';
import { openExclusively, replaceDatabase } from './embedded-file.ts';
import { deleteOldCopies, watchSafetyCopies } from './safety-copies.ts';

const dayMs = 86_400_000;

/** Creates a data folder that is deleted after the test. */
function createDataFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-copies-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns the time that is this number of days in the future. */
const inDays = (days: number) => new Date(Date.now() + days * dayMs);

describe('deleteOldCopies (deletes safety copies of the database)', () => {
  it('deletes copies from before a migration or a restore that are older than safetyCopyDays, and no other files', async () => {
    const dataDir = createDataFolder();
    const copies = [
      'lamina.db.before-migration',
      'lamina.db.before-migration.4711',
      'lamina.db.before-restore',
      'lamina.db.before-restore-shm',
      'lamina.db.before-restore-wal',
      'secret.key.before-restore',
    ];
    const others = [
      'lamina.db',
      'lamina.db-wal',
      'secret.key',
      'secret.key.restoring',
      'my.db.before-restore',
    ];
    for (const name of [...copies, ...others]) fs.writeFileSync(path.join(dataDir, name), 'ayse@example.org');
    const config = { dataDir, safetyCopyDays: 7 };
    expect(await deleteOldCopies(config, inDays(6.9))).toEqual([]);
    expect([...(await deleteOldCopies(config, inDays(7.1)))].sort()).toEqual(copies);
    expect(fs.readdirSync(dataDir).sort()).toEqual(others.sort());
  });

  it('counts the age of a copy made by a restore from the time of the restore, not from the last change of the copied database', async () => {
    const dataDir = createDataFolder();
    const file = path.join(dataDir, 'lamina.db');
    for (const name of [file, `${file}.new`]) {
      const db = openExclusively(name);
      await sql`select 1`.execute(db); // opens the connection, because `destroy` would not close an unused one
      await db.destroy();
    }
    fs.utimesSync(file, new Date(0), new Date(0));
    expect(replaceDatabase(file, `${file}.new`)).toBe(`${file}.before-restore`);
    expect(await deleteOldCopies({ dataDir, safetyCopyDays: 7 }, inDays(1))).toEqual([]);
    expect(await deleteOldCopies({ dataDir, safetyCopyDays: 7 }, inDays(8))).toEqual([
      'lamina.db.before-restore',
    ]);
    await (await openDatabase({ url: null, file })).destroy();
  });
});

describe('watchSafetyCopies (checks safety copies of the database every hour)', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] }));
  afterEach(() => vi.useRealTimers());

  it('deletes copies older than safetyCopyDays one hour after the start of the server', async () => {
    const dataDir = createDataFolder();
    const copy = path.join(dataDir, 'lamina.db.before-migration');
    fs.writeFileSync(copy, 'ayse@example.org');
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
    const start = inDays(30);
    watchSafetyCopies({ config: { dataDir, safetyCopyDays: 7 }, now: () => start, log });
    await vi.advanceTimersByTimeAsync(3_500_000); // 100 s less than an hour
    expect(fs.existsSync(copy)).toBe(true);
    await vi.advanceTimersByTimeAsync(200_000); // 100 s more than an hour
    await vi.waitFor(() => expect(lines.join('')).toContain('SAFETY_COPY_DAYS deleted'));
    expect(fs.existsSync(copy)).toBe(false);
  });
});
