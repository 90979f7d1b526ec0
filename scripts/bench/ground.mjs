/** What every part of the bench stands on: slides, a folder, and who runs on which processor. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../chromium.mjs';
import { makeSlides } from './slides.mjs';

/** The folder in which everything that was made for measuring stays. */
export function cacheFolder() {
  const { BENCH_DIR: named, XDG_CACHE_HOME: caches = join(homedir(), '.cache') } = process.env;
  const cache = named ?? join(caches, 'lamina-bench');
  mkdirSync(cache, { recursive: true });
  return cache;
}

/** @returns `{ cache, slides, tileSize, pinned }`, see `findPeers`; nothing is pinned yet */
export async function groundOf() {
  const cache = cacheFolder();
  const { folder, tileSize } = await makeSlides(cache);
  return { cache, slides: folder, tileSize, pinned: (commandLine) => commandLine };
}

/** Servers on the first processor and this process on the last; on a machine with one, both where they like. */
export function withOwnProcessors(ground) {
  const taskset = onPath('taskset');
  const count = availableParallelism();
  if (!taskset || count < 2) return { ...ground, isPinned: false };
  const pin = spawnSync(taskset, ['-acp', String(count - 1), String(process.pid)]);
  if (pin.status !== 0) return { ...ground, isPinned: false };
  return { ...ground, isPinned: true, pinned: (commandLine) => [taskset, '-c', '0', ...commandLine] };
}

/** This process may run anywhere again. */
export function releaseProcessors(count) {
  const taskset = onPath('taskset');
  if (taskset) spawnSync(taskset, ['-acp', `0-${count - 1}`, String(process.pid)]);
}
