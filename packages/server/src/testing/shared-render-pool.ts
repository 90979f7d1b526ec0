/**
 * One pool of render processes for all test servers of a test file. To start a process takes half a second of a
 * processor, and a whole one without compiled code; a test needs one or two.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { RenderPool } from '@lamina/slide';
import { afterAll } from 'vitest';
import { createRenderPool } from '../tiles/rendered-tiles.ts';

/** Holds the folders of all test servers of the test file; null until there is one. */
let folder: string | null = null;
let pool: RenderPool | null = null;

/** Code that render processes of any test compiled: one that finds it starts in a third of the time. */
export const compiledCodeFolder = path.join(os.tmpdir(), 'lamina-compile-cache-render');

/** Creates the folder of a test server. Render processes of the shared pool may read it. */
export function makeServerFolder(): string {
  folder ??= fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-test-'));
  return fs.mkdtempSync(path.join(folder, 'server-'));
}

/**
 * Returns the pool; the test file closes it after its last test. Each job has the limits of the product's own pool.
 *
 * @param timeoutMs time limit of a job in place of the product's; the first call of a test file decides
 */
export function sharedRenderPool(timeoutMs?: number): RenderPool {
  if (folder === null) throw new Error('makeServerFolder has to be called first');
  pool ??= createRenderPool({
    compiledFolder: compiledCodeFolder,
    scratchFolder: path.join(folder, 'scratch'),
    slideFolders: [folder],
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return pool;
}

afterAll(async () => {
  await pool?.close();
  if (folder !== null) fs.rmSync(folder, { recursive: true, force: true });
});
