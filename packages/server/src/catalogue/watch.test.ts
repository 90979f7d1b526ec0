/** Tests that changes in the slide folders are reported, so that the catalogue scans them. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchFolders } from './watch.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Watches two folders of a new base folder: `slides`, and `later`, which does not exist yet. */
async function startWatching() {
  const base = await fs.mkdtemp(path.join(os.tmpdir(), 'watch-'));
  const inBase = (relativePath: string) => path.join(base, relativePath);
  await fs.mkdir(inBase('slides/Set/deep'), { recursive: true });
  const onChange = vi.fn<() => void>();
  const folders = [inBase('slides'), inBase('later')];
  const watch = watchFolders({ folders, onChange, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await watch.close();
    await fs.rm(base, { recursive: true });
  });
  await watch.ready;
  return {
    inBase,
    /** Makes a change, and returns whether it is reported within 50 s. */
    async isReported(change: () => Promise<unknown>): Promise<boolean> {
      onChange.mockClear();
      await change();
      const isCalled = () => onChange.mock.calls.length > 0;
      await vi.waitUntil(isCalled, { timeout: 50_000, interval: 50 }).catch(() => {});
      return isCalled();
    },
  };
}

describe('watchFolders (watcher of the slide folders)', () => {
  it('reports created, changed, renamed and deleted files at any depth', async () => {
    const { inBase, isReported } = await startWatching();
    expect(await isReported(() => fs.writeFile(inBase('slides/Set/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.appendFile(inBase('slides/Set/deep/a.svs'), '2'))).toBe(true);
    expect(
      await isReported(() => fs.rename(inBase('slides/Set/deep/a.svs'), inBase('slides/Set/deep/b.svs'))),
    ).toBe(true);
    expect(await isReported(() => fs.rm(inBase('slides/Set/deep/b.svs')))).toBe(true);
  });

  it('reports changes in new folders, also in a watched slide folder that does not exist at the start', async () => {
    const { inBase, isReported } = await startWatching();
    expect(await isReported(() => fs.mkdir(inBase('slides/New/deep'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.writeFile(inBase('slides/New/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.mkdir(inBase('later')))).toBe(true);
    expect(await isReported(() => fs.writeFile(inBase('later/b.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.rm(inBase('later'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.mkdir(inBase('later/deep'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.writeFile(inBase('later/deep/b.svs'), '1'))).toBe(true);
  });

  it('reports changes in a moved folder, and in a new folder at the old path of the moved one', async () => {
    const { inBase, isReported } = await startWatching();
    const exchange = async () => {
      await fs.rename(inBase('slides/Set'), inBase('slides/Moved'));
      await fs.mkdir(inBase('slides/Set'));
    };
    expect(await isReported(exchange)).toBe(true);
    expect(await isReported(() => fs.writeFile(inBase('slides/Moved/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.writeFile(inBase('slides/Set/b.svs'), '1'))).toBe(true);
  });
});
