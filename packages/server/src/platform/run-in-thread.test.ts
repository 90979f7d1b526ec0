import { describe, expect, it } from 'vitest';
import { runInThread } from './run-in-thread.ts';

/** Returns the URL of a module with this code. */
const module = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';${code}`)}`,
  );

describe('runInThread', () => {
  it('returns the message that the thread posts', async () => {
    const { signal } = new AbortController();
    const task = { module: module('parentPort.postMessage(workerData * 2)'), workerData: 21, signal };
    expect(await runInThread(task)).toBe(42);
  });

  it('reports the progress that the thread posts before its result', async () => {
    const { signal } = new AbortController();
    const code =
      'for (const progress of [0.25, 0.5]) parentPort.postMessage({ progress }); parentPort.postMessage("done")';
    const reported: number[] = [];
    const onProgress = (done: number) => reported.push(done);
    expect(await runInThread({ module: module(code), onProgress, signal })).toBe('done');
    expect(reported).toEqual([0.25, 0.5]);
  });

  it('throws the error of the thread', async () => {
    const { signal } = new AbortController();
    await expect(runInThread({ module: module('throw new Error("no such file")'), signal })).rejects.toThrow(
      'no such file',
    );
  });

  it('throws ERR_WORKER_OUT_OF_MEMORY when the thread exceeds its memory', async () => {
    const { signal } = new AbortController();
    const fill = module('const all = []; for (;;) all.push(new Array(1e5).fill({}));');
    const task = { module: fill, resourceLimits: { maxOldGenerationSizeMb: 16 }, signal };
    await expect(runInThread(task)).rejects.toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });

  it('throws an error when the thread ends without a result', async () => {
    const { signal } = new AbortController();
    await expect(runInThread({ module: module(''), signal })).rejects.toThrow('without an answer');
  });

  it('ends the thread when the signal is aborted', async () => {
    const abort = new AbortController();
    const answer = runInThread({ module: module('setInterval(() => {}, 1000)'), signal: abort.signal });
    abort.abort(new Error('closed'));
    await expect(answer).rejects.toThrow('closed');
  });
});
