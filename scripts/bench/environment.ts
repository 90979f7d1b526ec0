/** The environment of all parts of the bench: a cache folder, large slides, and processors for servers and client. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../services/find-command.ts';
import { makeSlides } from './slides/slides.ts';

/** Options of the command line, for all parts. */
export interface BenchOptions {
  /** True for a short run that only checks that the part works; its results are not written to docs/performance.md. */
  readonly isQuick: boolean;
  /**
   * Folder of an installed and built checkout of another version, which the parts `servers` and `browser` measure in turns with this
   * one; null for this version alone. The results are then only printed.
   */
  readonly otherCheckout: string | null;
}

export interface BenchEnvironment {
  /** Folder for logs, data and everything else that a part writes. */
  readonly cache: string;
  /** Folder of the slides. */
  readonly slides: string;
  /** Side of the tiles of these slides, in pixels. */
  readonly tileSize: number;
  /** Folder of the product's code; by default this checkout. */
  readonly checkout?: string;
  /**
   * Returns the command line with a prefix (taskset) that makes it run on the processor reserved for servers. Returns
   * the command line unchanged when servers and client share all processors.
   */
  readonly pin: (commandLine: readonly string[]) => readonly string[];
}

/** Returns the folder that keeps slides and other data between runs. */
export function cacheFolder(): string {
  const { BENCH_DIR: configuredFolder, XDG_CACHE_HOME: caches = join(homedir(), '.cache') } = process.env;
  const cache = configuredFolder ?? join(caches, 'lamina-bench');
  mkdirSync(cache, { recursive: true });
  return cache;
}

/** Creates the environment and the slides that are missing. In this environment servers and client run on all processors. */
export async function createEnvironment(): Promise<BenchEnvironment> {
  const cache = cacheFolder();
  const { folder, tileSize } = await makeSlides(cache);
  return { cache, slides: folder, tileSize, pin: (commandLine) => commandLine };
}

/** Returns the environment of another version of the product, whose data must not be shared with this version. */
export function environmentOf(otherCheckout: string, environment: BenchEnvironment): BenchEnvironment {
  return { ...environment, checkout: otherCheckout, cache: join(environment.cache, 'other-version') };
}

/**
 * Runs servers on the first processor and this process on the last.
 *
 * @returns an environment whose `pin` selects the first processor; null when there is only one, or taskset is not installed or fails
 */
export function withSeparateProcessors(environment: BenchEnvironment): BenchEnvironment | null {
  const taskset = findCommand('taskset');
  const count = availableParallelism();
  if (!taskset || count < 2) return null;
  // Options: a for all threads, c for a list of processors, p for a running process.
  const { status } = spawnSync(taskset, ['-acp', String(count - 1), String(process.pid)]);
  if (status !== 0) return null;
  return { ...environment, pin: (commandLine) => [taskset, '-c', '0', ...commandLine] };
}

/** Lets this process run on all processors again. @param count number of processors before `withSeparateProcessors` */
export function useAllProcessors(count: number): void {
  const taskset = findCommand('taskset');
  if (taskset) spawnSync(taskset, ['-acp', `0-${count - 1}`, String(process.pid)]);
}
