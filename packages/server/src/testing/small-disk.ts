/**
 * Starts a program with a disk of a few megabytes: a file system in memory (tmpfs) that only this program sees, and that disappears
 * when the program ends. Linux allows this to root, and on many machines to every user.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Returns the beginning of a command line; the caller appends the program and its arguments. For the program, `folder` is a disk of
 * `bytes` bytes. The program replaces the started process and keeps its process id.
 */
export function commandOnSmallDisk(folder: string, bytes: number): readonly string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']; // others become root in a namespace
  const mount = 'mount -t tmpfs -o "size=$1" none "$2" && shift 2 && exec "$@"';
  return ['unshare', ...asRoot, '--mount', 'sh', '-c', mount, 'sh', String(bytes), folder];
}

/** Returns whether this machine allows small disks; to find out, starts a program with one. */
export function isSmallDiskPossible(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'small-disk-'));
  const [command = '', ...args] = commandOnSmallDisk(folder, 1024 * 1024);
  const { status } = spawnSync(command, [...args, 'true']);
  fs.rmSync(folder, { recursive: true });
  return status === 0;
}

/** Returns the path by which the test process can open a file that the program sees as `file`, for example on its small disk. */
export function pathSeenByProcess(pid: number | undefined, file: string): string {
  return path.join(`/proc/${pid}/root`, file);
}

/** Creates a file that takes all free space of its disk. */
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
