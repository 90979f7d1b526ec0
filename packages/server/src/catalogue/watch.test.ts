import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchFolders } from './watch.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Watches two folders: `slides`, and `later`, which does not exist yet. */
async function startWatching() {
  const base = await fs.mkdtemp(path.join(os.tmpdir(), 'watch-'));
  const at = (place: string) => path.join(base, place);
  await fs.mkdir(at('slides/Set/deep'), { recursive: true });
  const onChange = vi.fn<() => void>();
  const folders = [at('slides'), at('later')];
  const watch = watchFolders({ folders, onChange, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await watch.close();
    await fs.rm(base, { recursive: true });
  });
  await watch.ready;
  return {
    at,
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

describe('watchFolders', () => {
  it('reports created, changed, renamed and deleted files at any depth', async () => {
    const { at, isReported } = await startWatching();
    expect(await isReported(() => fs.writeFile(at('slides/Set/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.appendFile(at('slides/Set/deep/a.svs'), '2'))).toBe(true);
    expect(await isReported(() => fs.rename(at('slides/Set/deep/a.svs'), at('slides/Set/deep/b.svs')))).toBe(
      true,
    );
    expect(await isReported(() => fs.rm(at('slides/Set/deep/b.svs')))).toBe(true);
  });

  it('watches folders that are created later, and their content', async () => {
    const { at, isReported } = await startWatching();
    expect(await isReported(() => fs.mkdir(at('slides/New/deep'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.writeFile(at('slides/New/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.mkdir(at('later')))).toBe(true);
    expect(await isReported(() => fs.writeFile(at('later/b.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.rm(at('later'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.mkdir(at('later/deep'), { recursive: true }))).toBe(true);
    expect(await isReported(() => fs.writeFile(at('later/deep/b.svs'), '1'))).toBe(true);
  });

  it('watches a moved folder, and the folder that takes its place', async () => {
    const { at, isReported } = await startWatching();
    const exchange = async () => {
      await fs.rename(at('slides/Set'), at('slides/Moved'));
      await fs.mkdir(at('slides/Set'));
    };
    expect(await isReported(exchange)).toBe(true);
    expect(await isReported(() => fs.writeFile(at('slides/Moved/deep/a.svs'), '1'))).toBe(true);
    expect(await isReported(() => fs.writeFile(at('slides/Set/b.svs'), '1'))).toBe(true);
  });
});
