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
    /** Does something, and waits until that is told. */
    async told(change: () => Promise<unknown>): Promise<void> {
      onChange.mockClear();
      await change();
      await vi.waitFor(() => expect(onChange).toHaveBeenCalled(), { timeout: 50_000, interval: 50 });
    },
  };
}

describe('a watch over slide folders', () => {
  it('tells of files at any depth that come, change, are renamed and go', async () => {
    const { at, told } = await watched();
    await told(() => fs.writeFile(at('slides/Set/deep/a.svs'), '1'));
    await told(() => fs.appendFile(at('slides/Set/deep/a.svs'), '2'));
    await told(() => fs.rename(at('slides/Set/deep/a.svs'), at('slides/Set/deep/b.svs')));
    await told(() => fs.rm(at('slides/Set/deep/b.svs')));
  });

  it('goes on with folders that come later, and with what is in them', async () => {
    const { at, told } = await watched();
    await told(() => fs.mkdir(at('slides/New/deep'), { recursive: true }));
    await told(() => fs.writeFile(at('slides/New/deep/a.svs'), '1'));
    await told(() => fs.mkdir(at('later')));
    await told(() => fs.writeFile(at('later/b.svs'), '1'));
    await told(() => fs.rm(at('later'), { recursive: true }));
    await told(() => fs.mkdir(at('later/deep'), { recursive: true }));
    await told(() => fs.writeFile(at('later/deep/b.svs'), '1'));
  });

  it('goes on with a folder that was moved, and with another in its place', async () => {
    const { at, told } = await watched();
    await told(async () => {
      await fs.rename(at('slides/Set'), at('slides/Moved'));
      await fs.mkdir(at('slides/Set'));
    });
    await told(() => fs.writeFile(at('slides/Moved/deep/a.svs'), '1'));
    await told(() => fs.writeFile(at('slides/Set/b.svs'), '1'));
  });

  it('leaves hidden files and folders alone', async () => {
    const { at, told } = await watched();
    await fs.mkdir(at('slides/.trash'));
    await fs.writeFile(at('slides/.trash/a.svs'), '1');
    await fs.writeFile(at('slides/.part'), '1');
    await told(() => fs.writeFile(at('slides/a.svs'), '1'));
  });
});
