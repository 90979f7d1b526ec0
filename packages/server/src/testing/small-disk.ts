/**
 * A disk of some megabytes for a program of a test's own: memory, mounted where that program alone sees it, and gone
 * when it ends. Linux lets everybody do this on many machines, and the administrator on all.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** What a command line begins with, so that `folder` is a small disk for it. The process keeps its id. */
export function onSmallDisk(folder: string, bytes: number): readonly string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const mount = 'mount -t tmpfs -o "size=$1" none "$2" && shift 2 && exec "$@"';
  return ['unshare', ...asRoot, '--mount', 'sh', '-c', mount, 'sh', String(bytes), folder];
}

/** Whether this machine lets us have one. */
export function canHaveSmallDisk(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'small-disk-'));
  const [command = '', ...args] = onSmallDisk(folder, 1024 * 1024);
  const { status } = spawnSync(command, [...args, 'true']);
  fs.rmSync(folder, { recursive: true });
  return status === 0;
}

/** A file as the program with this process id sees it. */
export function seenBy(pid: number | undefined, file: string): string {
  return path.join(`/proc/${pid}/root`, file);
}

/** Writes a file until there is no room for anything more. */
export function fillDisk(file: string): void {
  const handle = fs.openSync(file, 'w');
  const page = Buffer.alloc(4096);
  try {
    for (;;) fs.writeSync(handle, page);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    fs.closeSync(handle);
  }
}
