/** Where the parts of files gather: one file for each, named by its id, below DATA_DIR/uploads/partial. */
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@lamina/contract';
import { FileStore } from '@tus/file-store';
import { ERRORS, Upload } from '@tus/server';

/** The files of the tus server, with what it says of a disk that is full. */
export class PartStore extends FileStore {
  /** Absolute path of a file that may not be whole. */
  pathOf(fileId: string): string {
    return path.join(this.directory, fileId);
  }

  /** An empty one. */
  async begin(fileId: string, sizeBytes: number): Promise<void> {
    await fs.promises.mkdir(this.directory, { recursive: true });
    try {
      await this.create(new Upload({ id: fileId, size: sizeBytes, offset: 0, metadata: {} }));
    } catch (error) {
      throw isFull(error) ? new AppError('storage_full', { cause: error }) : error;
    }
  }

  /** Bytes that have come; null when there is no such file. */
  async received(fileId: string): Promise<number | null> {
    try {
      return (await fs.promises.stat(this.pathOf(fileId))).size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** What is not there counts as removed. */
  async discard(fileId: string): Promise<void> {
    await fs.promises.rm(this.pathOf(fileId), { force: true });
    await fs.promises.rm(`${this.pathOf(fileId)}.json`, { force: true });
  }

  /**
   * Written where it belongs, not at the end: should an interrupted request still be heard while the next one is
   * answered, maybe by another process, both write the same bytes to the same place.
   *
   * @returns how much of the file there is now
   */
  override async write(part: Readable, fileId: string, offset: number): Promise<number> {
    const file = fs.createWriteStream(this.pathOf(fileId), { flags: 'r+', start: offset });
    try {
      await pipeline(part, file);
    } catch (error) {
      if (isFull(error)) throw new AppError('storage_full', { cause: error });
      throw Object.assign(
        new Error('A part could not be written', { cause: error }),
        ERRORS.FILE_WRITE_ERROR,
      );
    }
    return offset + file.bytesWritten;
  }
}

/** No room on the disk, or none for us, or none for a file of this size. */
function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
