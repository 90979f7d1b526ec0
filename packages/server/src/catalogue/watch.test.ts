import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchFolders } from './watch.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Watched folders, one of which is not there yet. */
async function watched() {
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
    /** Does something, and waits until that is told, or for very long. */
    async isTold(change: () => Promise<unknown>): Promise<boolean> {
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
    const { at, isTold } = await watched();
    expect(await isTold(() => fs.writeFile(at('slides/Set/deep/a.svs'), '1'))).toBe(true);
    expect(await isTold(() => fs.appendFile(at('slides/Set/deep/a.svs'), '2'))).toBe(true);
    expect(await isTold(() => fs.rename(at('slides/Set/deep/a.svs'), at('slides/Set/deep/b.svs')))).toBe(
      true,
    );
    expect(await isTold(() => fs.rm(at('slides/Set/deep/b.svs')))).toBe(true);
  });

  it('watches folders that are created later, and their content', async () => {
    const { at, isTold } = await watched();
    expect(await isTold(() => fs.mkdir(at('slides/New/deep'), { recursive: true }))).toBe(true);
    expect(await isTold(() => fs.writeFile(at('slides/New/deep/a.svs'), '1'))).toBe(true);
    expect(await isTold(() => fs.mkdir(at('later')))).toBe(true);
    expect(await isTold(() => fs.writeFile(at('later/b.svs'), '1'))).toBe(true);
    expect(await isTold(() => fs.rm(at('later'), { recursive: true }))).toBe(true);
    expect(await isTold(() => fs.mkdir(at('later/deep'), { recursive: true }))).toBe(true);
    expect(await isTold(() => fs.writeFile(at('later/deep/b.svs'), '1'))).toBe(true);
  });

  it('watches a moved folder, and the folder that takes its place', async () => {
    const { at, isTold } = await watched();
    const exchange = async () => {
      await fs.rename(at('slides/Set'), at('slides/Moved'));
      await fs.mkdir(at('slides/Set'));
    };
    expect(await isTold(exchange)).toBe(true);
    expect(await isTold(() => fs.writeFile(at('slides/Moved/deep/a.svs'), '1'))).toBe(true);
    expect(await isTold(() => fs.writeFile(at('slides/Set/b.svs'), '1'))).toBe(true);
  });
});
