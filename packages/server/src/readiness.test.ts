import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SlideError } from '@lamina/slide';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createReadiness } from './readiness.ts';
import { openTestDatabase } from './store/testing/test-database.ts';

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
  const ground = {
    config: { slidesDir: folder },
    db,
    log,
    madeTiles: making(),
    objectStorage: null,
    ...world,
  };
  return { ...createReadiness(ground), lines };
}

const making = (is: { readonly isFull?: boolean } = {}) => ({
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
/** Answers every question so. */
const store = (answer: () => Promise<never>) =>
  ({ store: { head: answer } }) as unknown as NonNullable<World['objectStorage']>;
const there = store(() => Promise.reject(new SlideError('FILE_MISSING', 'There is no such object')));
const away = store(() => Promise.reject(new SlideError('STORE_UNAVAILABLE', 'The store is away')));
const silent = store(() => new Promise(() => {}));
/** No folder. */
const noFolder = { slidesDir: import.meta.filename };
const noFolderYet = { slidesDir: path.join(import.meta.dirname, 'nothing-is-called-so') };

describe('a process is ready', () => {
  it.each<[string, Partial<World>]>([
    ['with its database and a folder of slides', {}],
    ['before there is a folder of slides', { config: noFolderYet }],
    ['with a bucket that answers', { objectStorage: there }],
    ['with a folder, though the bucket is away', { objectStorage: away }],
    ['with a bucket, though the folder cannot be read', { config: noFolder, objectStorage: there }],
  ])('%s', async (_, world) => {
    expect(await (await readiness(world)).isReady()).toBe(true);
  });

  it.each<[string, Partial<World>, string]>([
    ['with a folder that cannot be read', { config: noFolder }, 'slides cannot be read'],
    ['with neither folder nor bucket', { config: noFolder, objectStorage: away }, 'The store is away'],
    ['with a bucket that says nothing', { config: noFolder, objectStorage: silent }, 'no answer within'],
    ['with more tiles to make than may wait', { madeTiles: making({ isFull: true }) }, 'too many tiles'],
  ])('not %s, and the log says why', async (_, world, reason) => {
    const { isReady, lines } = await readiness(world);
    expect(await isReady()).toBe(false);
    expect(lines.join('')).toContain(reason);
  });

  it('without being looked at anew for each of many who ask at once', async () => {
    let looks = 0;
    const madeTiles = {
      figures() {
        looks++;
        return making().figures();
      },
    };
    const { isReady } = await readiness({ madeTiles });
    const answers = await Promise.all(Array.from({ length: 1000 }, isReady));
    expect(answers.every(Boolean)).toBe(true);
    expect(looks).toBe(1);
  });
});
