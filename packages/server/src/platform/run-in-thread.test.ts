import { describe, expect, it } from 'vitest';
import { runInThread } from './run-in-thread.ts';

/** Returns the URL of a module for a worker thread with this code. */
const moduleWith = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';${code}`)}`,
  );

describe('runInThread (runs a module in a worker thread)', () => {
  it('returns the message that the thread posts as the result', async () => {
    const { signal } = new AbortController();
    const task = { module: moduleWith('parentPort.postMessage(workerData * 2)'), workerData: 21, signal };
    expect(await runInThread(task)).toBe(42);
  });

  it('reports the progress that the thread posts before its result', async () => {
    const { signal } = new AbortController();
    const code =
      'for (const progress of [0.25, 0.5]) parentPort.postMessage({ progress }); parentPort.postMessage("done")';
    const reported: number[] = [];
    const onProgress = (progress: number) => reported.push(progress);
    expect(await runInThread({ module: moduleWith(code), onProgress, signal })).toBe('done');
    expect(reported).toEqual([0.25, 0.5]);
  });

  it('throws the error that the module throws in the thread', async () => {
    const { signal } = new AbortController();
    await expect(
      runInThread({ module: moduleWith('throw new Error("no such file")'), signal }),
    ).rejects.toThrow('no such file');
  });

  it('throws ERR_WORKER_OUT_OF_MEMORY when the thread exceeds its memory limit', async () => {
    const { signal } = new AbortController();
    const memoryFiller = moduleWith('const all = []; for (;;) all.push(new Array(1e5).fill({}));');
    const task = { module: memoryFiller, resourceLimits: { maxOldGenerationSizeMb: 16 }, signal };
    await expect(runInThread(task)).rejects.toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });

  it('throws an error when the thread ends without a result', async () => {
    const { signal } = new AbortController();
    await expect(runInThread({ module: moduleWith(''), signal })).rejects.toThrow('without a result');
  });

  it('ends the thread and throws the reason of the signal when the signal is aborted', async () => {
    const abort = new AbortController();
    const result = runInThread({ module: moduleWith('setInterval(() => {}, 1000)'), signal: abort.signal });
    abort.abort(new Error('closed'));
    await expect(result).rejects.toThrow('closed');
  });
});
