/**
 * One pool of render processes for all test servers of a process that runs test files. To start a render process takes
 * half a second of a processor, and a whole one without compiled code; a test needs one or two.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { RenderPool } from '@lamina/slide';
import { inject } from 'vitest';
import { createRenderPool } from '../tiles/rendered-tiles.ts';

/** Holds the folders of all test servers of this process; null until there is one. */
let folder: string | null = null;
let pool: RenderPool | null = null;

/** Code that render processes of any test compiled: one that finds it starts in a third of the time. */
export const compiledCodeFolder = path.join(os.tmpdir(), 'lamina-compile-cache-render');

/** Creates the folder of a test server. Render processes of the shared pool may read it. The end of the run deletes it. */
export function makeServerFolder(): string {
  folder ??= fs.mkdtempSync(path.join(inject('databaseTemplates').folder, 'servers-'));
  return fs.mkdtempSync(path.join(folder, 'server-'));
}

/** Returns the pool, whose jobs have the limits of the product's own pool. It ends with the process. */
export function sharedRenderPool(): RenderPool {
  pool ??= createTestRenderPool();
  return pool;
}

/**
 * Creates a pool for one test.
 *
 * @param timeoutMs time limit of a job; absent: that of the product
 */
export function createTestRenderPool(timeoutMs?: number): RenderPool {
  if (folder === null) throw new Error('makeServerFolder has to be called first');
  return createRenderPool({
    compiledFolder: compiledCodeFolder,
    scratchFolder: path.join(folder, 'scratch'),
    slideFolders: [folder],
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}
