import { constants, fstatSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { SlideError, type SlideLocation } from '../slide.ts';
import { type ByteSource, checkRange } from './byte-source.ts';
import { fingerprintOfVersions, versionOfFile } from './fingerprint.ts';
import { isOnLocalDisk } from './local-file-system.ts';
import { readPace } from './read-pace.ts';

/**
 * Bytes of a file, by positioned reads, so that many may read at once: on this thread while that is quick (see
 * read-pace.ts), else by the pool of threads.
 *
 * A file into which something is written while it is open gives nothing more, neither old bytes nor new ones: what was
 * read before and what is read now would not belong together. (One that takes its place by its name is another file,
 * and this one goes on.) Reads throw FILE_CHANGED then.
 *
 * @param mayGrow for a file of ours that is appended to, and never changed otherwise: it goes on
 * @throws SlideError FILE_MISSING, NOT_A_SLIDE when the path is no regular file, STORE_UNAVAILABLE
 */
export async function openFileSource(path: string, { mayGrow = false } = {}): Promise<ByteSource> {
  const file = await openRegularFile(path);
  const stats = await file.stat({ bigint: true });
  const size = Number(stats.size);
  const isLocal = await isOnLocalDisk(path, stats.dev);
  const changedAt = millisecondsOf(stats.mtimeNs);

  /** Told what the file is after a read: a system says that a file has changed before it changes it. */
  function requireUnchanged(now: Stats): void {
    if (mayGrow || (now.size === size && now.mtimeMs === changedAt)) return;
    throw new SlideError('FILE_CHANGED', 'The file was written to while it was open');
  }

  /** @returns how many bytes, as many as were asked for unless the file ends before */
  function readHere(target: Uint8Array, at: number, offset: number, length: number): number {
    const startedAt = performance.now();
    try {
      return readSync(file.fd, target, at, length, offset);
    } catch (cause) {
      throw unreadable(cause);
    } finally {
      readPace.took(performance.now() - startedAt);
    }
  }

  const readInto: ByteSource['readInto'] = async (target, at, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    let done = isLocal && readPace.mayReadHere(length) ? readHere(target, at, offset, length) : 0;
    while (done < length) {
      const { bytesRead } = await file
        .read(target, at + done, length - done, offset + done)
        .catch((cause) => {
          throw unreadable(cause);
        });
      if (bytesRead === 0) {
        requireUnchanged(await file.stat());
        throw new SlideError('FILE_TRUNCATED', `The file has become shorter than ${offset + length} bytes`);
      }
      done += bytesRead;
    }
    // Of a file that is open here, the system knows this without looking at the disk, but not what lies elsewhere.
    if (!mayGrow) requireUnchanged(isLocal ? fstatSync(file.fd) : await file.stat());
  };

  return {
    size,
    fingerprint: fingerprintOfVersions([versionOfFile(stats)]),
    async read(offset, length, signal) {
      // Before the allocation: a length that a file invents must not become memory.
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
 * What `Slide.fingerprint` would be if the slide were opened now: tells a replaced file from the one that is open.
 * It changes with each of the members that the location names, and with each file in those that are folders.
 *
 * @throws SlideError FILE_MISSING, also when a member is
 */
export async function fingerprintOfFiles({ path, members = [] }: SlideLocation): Promise<string> {
  try {
    const others = await Promise.all(members.map((member) => filesOf(join(dirname(path), member))));
    const paths = [path, ...others.flat()];
    const files = await Promise.all(paths.map((each) => stat(each, { bigint: true })));
    return fingerprintOfVersions(files.map(versionOfFile));
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** @param member absolute path; one that ends with a slash is a folder: it, and the regular files below it, sorted */
async function filesOf(member: string): Promise<readonly string[]> {
  if (!member.endsWith(sep)) return [member];
  const entries = await readdir(member, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return [member, ...files.sort()];
}

async function openRegularFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Opening a named pipe would wait for its writer for ever; Windows has neither pipes here nor the flag.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw unreadable(cause);
  }
  try {
    if ((await file.stat()).isFile()) return file;
    throw new SlideError('NOT_A_SLIDE', 'This is not a regular file');
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

/** As `Stats.mtimeMs` says it, to the last bit. */
function millisecondsOf(ns: bigint): number {
  const second = 1_000_000_000n;
  return Number(ns / second) * 1000 + Number(ns % second) / 1e6;
}

/** The disk, the network or this program is at its end; nothing is known of the file. */
const passing = /^(EIO|EMFILE|ENFILE|ENOMEM|ESTALE|ETIMEDOUT|EHOSTDOWN|ENOTCONN|EBUSY)$/;

/** The cause goes along for the log; the message names no path. */
function unreadable(cause: unknown): SlideError {
  if (passing.test(String((cause as NodeJS.ErrnoException).code))) {
    return new SlideError('STORE_UNAVAILABLE', 'The file cannot be read at the moment', { cause });
  }
  return new SlideError('FILE_MISSING', 'The file does not exist or cannot be read', { cause });
}
