import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SlideError } from '@lamina/slide';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openTestDatabase } from '../store/testing/test-database.ts';
import { createReadiness } from './readiness.ts';

type ReadinessDependencies = Parameters<typeof createReadiness>[0];

/** Creates the readiness check of a process whose services work, except those in `overrides`; `lines` are its log. */
async function createTestReadiness(overrides: Partial<ReadinessDependencies> = {}) {
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
    renderedTiles: renderedTilesWith(),
    objectStorage: null,
    ...overrides,
  };
  return { ...createReadiness(dependencies), lines };
}

/** Returns a service of rendered tiles with an empty queue, except for these figures. */
const renderedTilesWith = (figures: { readonly isQueueFull?: boolean } = {}) => ({
  figures: () => ({
    queueLength: 0,
    isQueueFull: false,
    workerFaults: 0,
    memoryBytes: 0,
    diskBytes: 0,
    foundInMemory: 0,
    foundOnDisk: 0,
    ...figures,
  }),
});
/** Returns an object storage that answers every request in the same way. */
const objectStorageThat = (answer: () => Promise<never>) =>
  ({ store: { head: answer } }) as unknown as NonNullable<ReadinessDependencies['objectStorage']>;
const available = objectStorageThat(() =>
  Promise.reject(new SlideError('FILE_MISSING', 'There is no such object')),
);
const unavailable = objectStorageThat(() =>
  Promise.reject(new SlideError('STORE_UNAVAILABLE', 'The store is unavailable')),
);
const unresponsive = objectStorageThat(() => new Promise(() => {}));
/** The slide folder is a file, which cannot be read as a folder. */
const unreadableFolder = { slidesDir: import.meta.filename };
const missingFolder = { slidesDir: path.join(import.meta.dirname, 'missing-folder') };

describe('isReady (whether a server process may receive requests)', () => {
  it.each<[string, Partial<ReadinessDependencies>]>([
    ['a database and a slide folder', {}],
    ['a slide folder that does not exist yet', { config: missingFolder }],
    ['object storage that answers', { objectStorage: available }],
    ['a slide folder although object storage is unavailable', { objectStorage: unavailable }],
    [
      'object storage although the slide folder is unreadable',
      { config: unreadableFolder, objectStorage: available },
    ],
  ])('returns true with %s', async (_, overrides) => {
    expect(await (await createTestReadiness(overrides)).isReady()).toBe(true);
  });

  it.each<[string, Partial<ReadinessDependencies>, string]>([
    ['an unreadable slide folder', { config: unreadableFolder }, 'slides unreadable'],
    [
      'an unreadable slide folder and an unavailable object storage',
      { config: unreadableFolder, objectStorage: unavailable },
      'store is unavailable',
    ],
    [
      'an unreadable slide folder and an object storage that does not respond',
      { config: unreadableFolder, objectStorage: unresponsive },
      'no answer within',
    ],
    ['a full render queue', { renderedTiles: renderedTilesWith({ isQueueFull: true }) }, 'render queue full'],
  ])('returns false and logs the reason with %s', async (_, overrides, reason) => {
    const { isReady, lines } = await createTestReadiness(overrides);
    expect(await isReady()).toBe(false);
    expect(lines.join('')).toContain(reason);
  });

  it('starts no second read of a slide folder while the disk has not responded to the first', async () => {
    const opendir = vi.spyOn(fs.promises, 'opendir').mockReturnValue(new Promise(() => {}));
    onTestFinished(() => opendir.mockRestore());
    const { isReady } = await createTestReadiness();
    expect(await isReady()).toBe(false); // returns after one second, so the next call checks again
    expect(await isReady()).toBe(false);
    expect(opendir).toHaveBeenCalledOnce();
  });

  it('closes the slide folder when it can be opened but not read', async () => {
    let isClosed = false;
    const entries = {
      read: () => Promise.reject(new Error('EIO: i/o error')),
      async close() {
        isClosed = true;
      },
    };
    const opendir = vi.spyOn(fs.promises, 'opendir').mockResolvedValue(entries as unknown as fs.Dir);
    onTestFinished(() => opendir.mockRestore());
    expect(await (await createTestReadiness()).isReady()).toBe(false);
    expect(isClosed).toBe(true);
  });

  it('runs its checks once for 1,000 concurrent calls', async () => {
    let checks = 0;
    const renderedTiles = {
      figures() {
        checks++;
        return renderedTilesWith().figures();
      },
    };
    const { isReady } = await createTestReadiness({ renderedTiles });
    const results = await Promise.all(Array.from({ length: 1000 }, isReady));
    expect(results.every(Boolean)).toBe(true);
    expect(checks).toBe(1);
  });
});
