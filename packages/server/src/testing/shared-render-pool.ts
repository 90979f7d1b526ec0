/**
 * One pool of render workers (processes that read slide files and render tiles) for all test servers of a test process.
 * Starting a render worker takes 0.5 s of CPU time, or 1 s without compiled code, and a test needs one or two workers.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { RenderPool } from '@lamina/slide';
import { inject } from 'vitest';
import { createRenderPool } from '../tiles/rendered-tiles.ts';

/** Parent of the folders of all test servers of this process; null before the first server. */
let parentFolder: string | null = null;
let pool: RenderPool | null = null;

/** Node's compile cache, which the render workers of all tests share. */
export const compiledCodeFolder = path.join(os.tmpdir(), 'lamina-compile-cache-render');

/** Creates the folder of a test server, which the render workers may read. It is deleted at the end of the test run. */
export function makeServerFolder(): string {
  // The global setup of the tests creates the folder of `databaseTemplates`, and deletes it at the end.
  parentFolder ??= fs.mkdtempSync(path.join(inject('databaseTemplates').folder, 'servers-'));
  return fs.mkdtempSync(path.join(parentFolder, 'server-'));
}

/** Returns the shared pool. Its jobs have the same limits as in production. It ends with the process. */
export function sharedRenderPool(): RenderPool {
  pool ??= createTestRenderPool();
  return pool;
}

/** Creates a separate pool. @param timeoutMs time limit of a job; undefined: the limit of production */
export function createTestRenderPool(timeoutMs?: number): RenderPool {
  if (parentFolder === null) throw new Error('makeServerFolder has to be called first');
  return createRenderPool({
    compiledFolder: compiledCodeFolder,
    scratchFolder: path.join(parentFolder, 'scratch'),
    slideFolders: [parentFolder],
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}
