/** Byte sources of files in the file system (not in object storage), and fingerprints of the slides stored there. */
import { constants, fstatSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import { type ByteSource, checkRange } from './byte-source.ts';
import { fingerprintOfVersions, versionOfFile } from './fingerprint.ts';
import { isOnLocalDisk } from './local-file-system.ts';
import { readPace } from './read-pace.ts';

/**
 * Opens a file for positioned reads, many of which may run at once. If the file is on a local disk, they run on this thread
 * while reads are fast (read-pace.ts). All other reads run in the thread pool.
 *
 * After the file is modified, every read throws FILE_CHANGED, because old and new bytes would not belong together. If another
 * file takes over the name, reads continue with the opened file.
 *
 * @param mayGrow true for Lamina's own append-only files: a modification is then no error, but reads beyond the size
 *   that the file had when it was opened still fail
 * @throws SlideError FILE_MISSING; NOT_A_SLIDE when the path is no regular file; STORE_UNAVAILABLE (transient)
 */
export async function openFileSource(path: string, { mayGrow = false } = {}): Promise<ByteSource> {
  const file = await openRegularFile(path);
  const inspect = async () => {
    const stats = await file.stat({ bigint: true });
    return { stats, isLocalDisk: await isOnLocalDisk(path, stats.dev) };
  };
  const { stats, isLocalDisk } = await inspect().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  const size = Number(stats.size);
  const modifiedAtMs = millisecondsOf(stats.mtimeNs);

  /**
   * Throws if the file was modified. The operating system updates the modification time before it changes the bytes, so an
   * unchanged time after a read means that the bytes read are unchanged.
   */
  function requireUnchanged(current: Stats): void {
    if (mayGrow || (current.size === size && current.mtimeMs === modifiedAtMs)) return;
    throw new SlideError('FILE_CHANGED', 'The file was written to while it was open');
  }

  /** Reads on this thread. @returns the number of bytes, smaller than `length` only at the end of the file */
  function readOnThisThread(target: Uint8Array, targetStart: number, offset: number, length: number): number {
    const startedAt = performance.now();
    try {
      return readSync(file.fd, target, targetStart, length, offset);
    } catch (cause) {
      throw readErrorOf(cause);
    } finally {
      readPace.recordRead(performance.now() - startedAt);
    }
  }

  const readInto: ByteSource['readInto'] = async (target, targetStart, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    const mayReadHere = isLocalDisk && readPace.mayReadOnThisThread(length);
    let readBytes = mayReadHere ? readOnThisThread(target, targetStart, offset, length) : 0;
    while (readBytes < length) {
      const { bytesRead } = await file
        .read(target, targetStart + readBytes, length - readBytes, offset + readBytes)
        .catch((cause) => {
          throw readErrorOf(cause);
        });
      if (bytesRead === 0) {
        requireUnchanged(await file.stat());
        throw new SlideError('FILE_TRUNCATED', `The file has become shorter than ${offset + length} bytes`);
      }
      readBytes += bytesRead;
    }
    // fstat of a file on a local disk needs no disk access. For a file on the network fstat may block, so it runs in the thread pool.
    if (!mayGrow) requireUnchanged(isLocalDisk ? fstatSync(file.fd) : await file.stat());
  };

  return {
    size,
    fingerprint: fingerprintOfVersions([versionOfFile(stats)]),
    async read(offset, length, signal) {
      // Checked before the allocation, so that an invalid length from a file does not allocate memory.
      checkRange(offset, length, size);
      const target = new Uint8Array(length);
      await readInto(target, 0, offset, length, signal);
      return target;
    },
    readInto,
    close: () => file.close(),
  };
}

/**
 * Computes the value that `Slide.fingerprint` would have if the slide were opened now. The value changes when
 * the main file (by which the slide is opened), a member (another file or folder of the slide), or a file in a member
 * folder changes.
 *
 * @throws SlideError FILE_MISSING when the main file or a member is missing; STORE_UNAVAILABLE
 */
export async function fingerprintOfFiles({ path, members = [] }: SlideLocation): Promise<string> {
  try {
    const memberPaths = await Promise.all(members.map((member) => filesOf(join(dirname(path), member))));
    const filePaths = [path, ...memberPaths.flat()];
    const stats = await Promise.all(filePaths.map((filePath) => stat(filePath, { bigint: true })));
    return fingerprintOfVersions(stats.map(versionOfFile));
  } catch (cause) {
    throw readErrorOf(cause);
  }
}

/**
 * Returns the paths of a member: the file itself, or the folder and then all files at any depth below it, sorted.
 *
 * @param member absolute path; a folder has a trailing slash
 */
async function filesOf(member: string): Promise<readonly string[]> {
  if (!member.endsWith(sep)) return [member];
  const entries = await readdir(member, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return [member, ...files.sort()];
}

/**
 * Returns all regular files at any depth below a folder, sorted by path.
 *
 * @param folder absolute path, without a trailing slash
 * @returns absolute paths, and sizes in bytes
 * @throws SlideError FILE_MISSING, STORE_UNAVAILABLE
 */
export async function filesBelow(
  folder: string,
): Promise<readonly { readonly path: string; readonly size: number }[]> {
  try {
    const [, ...paths] = await filesOf(folder + sep); // the first path is the folder itself
    return await Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })));
  } catch (cause) {
    throw readErrorOf(cause);
  }
}

async function openRegularFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer. Windows has neither such pipes nor the flag.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw readErrorOf(cause);
  }
  try {
    if ((await file.stat()).isFile()) return file;
    throw new SlideError('NOT_A_SLIDE', 'This is not a regular file');
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

/** Converts nanoseconds to milliseconds exactly as Node computes `Stats.mtimeMs`, so that both can be compared. */
function millisecondsOf(ns: bigint): number {
  const second = 1_000_000_000n;
  return Number(ns / second) * 1000 + Number(ns % second) / 1e6;
}

/** Codes of transient errors of the disk, the network or this process; the file itself may be intact. */
const transientErrorCodes = /^(EIO|EMFILE|ENFILE|ENOMEM|ESTALE|ETIMEDOUT|EHOSTDOWN|ENOTCONN|EBUSY)$/;

/** Returns the error for a failed file operation. Only its cause, which is logged but not sent, may contain a path. */
function readErrorOf(cause: unknown): SlideError {
  const { code } = cause as NodeJS.ErrnoException;
  if (transientErrorCodes.test(String(code))) {
    return new SlideError('STORE_UNAVAILABLE', 'The file cannot be read at the moment', { cause });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new SlideError('FILE_MISSING', 'The server has no permission to read a file of the slide', {
      cause,
    });
  }
  return new SlideError('FILE_MISSING', 'The file does not exist or cannot be read', { cause });
}
