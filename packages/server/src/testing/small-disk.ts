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
 * `bytes` bytes. The program has the process id of the started process, because `unshare` and the shell replace themselves by it.
 */
export function commandOnSmallDisk(folder: string, bytes: number): readonly string[] {
  // A user who is not root becomes root in a namespace.
  const namespaceOptions = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  // Arguments of the script: its name ($0), the size ($1), the folder ($2), and the command line of the program.
  const script = 'mount -t tmpfs -o "size=$1" none "$2" && shift 2 && exec "$@"';
  return ['unshare', ...namespaceOptions, '--mount', 'sh', '-c', script, 'sh', String(bytes), folder];
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
