import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SlideError } from '@lamina/slide';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../store/testing/test-database.ts';
import { createReadiness } from './readiness.ts';

type World = Parameters<typeof createReadiness>[0];

async function readiness(world: Partial<World> = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-ready-'));
  const { db, close } = await openTestDatabase('SQLite');
  onTestFinished(async () => {
    await close();
    fs.rmSync(folder, { recursive: true });
  });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
  const dependencies = {
    config: { slidesDir: folder },
    db,
    log,
    renderedTiles: rendering(),
    objectStorage: null,
    ...world,
  };
  return { ...createReadiness(dependencies), lines };
}

const rendering = (is: { readonly isFull?: boolean } = {}) => ({
  figures: () => ({
    queueLength: 0,
    isFull: false,
    faults: 0,
    memoryBytes: 0,
    diskBytes: 0,
    foundInMemory: 0,
    foundOnDisk: 0,
    ...is,
  }),
});
/** An object store that answers every request with the given error. */
const store = (answer: () => Promise<never>) =>
  ({ store: { head: answer } }) as unknown as NonNullable<World['objectStorage']>;
const available = store(() => Promise.reject(new SlideError('FILE_MISSING', 'There is no such object')));
const unavailable = store(() =>
  Promise.reject(new SlideError('STORE_UNAVAILABLE', 'The store is unavailable')),
);
const unresponsive = store(() => new Promise(() => {}));
/** A file in place of the slide folder. */
const noFolder = { slidesDir: import.meta.filename };
const missingFolder = { slidesDir: path.join(import.meta.dirname, 'missing-folder') };

describe('isReady', () => {
  it.each<[string, Partial<World>]>([
    ['a database and a slide folder', {}],
    ['a slide folder that does not exist yet', { config: missingFolder }],
    ['object storage that answers', { objectStorage: available }],
    ['a slide folder although object storage is unavailable', { objectStorage: unavailable }],
    [
      'object storage although the slide folder is unreadable',
      { config: noFolder, objectStorage: available },
    ],
  ])('returns true with %s', async (_, world) => {
    expect(await (await readiness(world)).isReady()).toBe(true);
  });

  it.each<[string, Partial<World>, string]>([
    ['an unreadable slide folder', { config: noFolder }, 'slides unreadable'],
    [
      'neither folder nor object storage',
      { config: noFolder, objectStorage: unavailable },
      'store is unavailable',
    ],
    [
      'object storage that does not respond',
      { config: noFolder, objectStorage: unresponsive },
      'no answer within',
    ],
    ['a full render queue', { renderedTiles: rendering({ isFull: true }) }, 'render queue full'],
  ])('returns false and logs the reason with %s', async (_, world, reason) => {
    const { isReady, lines } = await readiness(world);
    expect(await isReady()).toBe(false);
    expect(lines.join('')).toContain(reason);
  });

  it('runs its checks once for concurrent calls', async () => {
    let checks = 0;
    const renderedTiles = {
      figures() {
        checks++;
        return rendering().figures();
      },
    };
    const { isReady } = await readiness({ renderedTiles });
    const answers = await Promise.all(Array.from({ length: 1000 }, isReady));
    expect(answers.every(Boolean)).toBe(true);
    expect(checks).toBe(1);
  });
});
