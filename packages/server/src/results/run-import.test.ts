import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runInThread } from '../platform/run-in-thread.ts';
import { type ImportTask, runImport } from './run-import.ts';

vi.mock(import('../platform/run-in-thread.ts'), () => ({ runInThread: vi.fn<typeof runInThread>() }));

it('rejects a file whose import runs out of memory as too complex, and deletes the unfinished file of the layer', async () => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'import-'));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  const task: ImportTask = {
    kind: 'vector',
    source: path.join(folder, 'source'),
    target: path.join(folder, 'target'),
    maxBytes: 1000,
    registration: { method: 'full-size' },
    isMask: null,
    slide: { width: 10, height: 10, mpp: null },
  };
  vi.mocked(runInThread).mockImplementation(async () => {
    await fs.writeFile(task.target, 'unfinished');
    throw Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });
  const outcome = await runImport(task, () => {}, new AbortController().signal);
  expect(outcome).toMatchObject({ ok: false, problem: 'too_complex' });
  expect(await fs.readdir(folder)).toEqual([]);
});
