/** Storage of the received bytes of incomplete uploads (slides, results): for each uploaded file, one file named after its id. */
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@lamina/contract';
import { FileStore } from '@tus/file-store';
import { ERRORS, Upload } from '@tus/server';

/** The file store for tus, the protocol of resumable uploads. Unlike `FileStore`, it reports a full disk as `storage_full`. */
export class PartStore extends FileStore {
  /** Returns the absolute path of a stored file. */
  pathOf(fileId: string): string {
    return path.join(this.directory, fileId);
  }

  /** Creates an empty file. @throws AppError storage_full */
  async begin(fileId: string, sizeBytes: number): Promise<void> {
    await fs.promises.mkdir(this.directory, { recursive: true });
    try {
      await this.create(new Upload({ id: fileId, size: sizeBytes, offset: 0, metadata: {} }));
    } catch (error) {
      throw isDiskFullError(error) ? new AppError('storage_full', { cause: error }) : error;
    }
  }

  /** Returns the number of received bytes; null when there is no such file. */
  async received(fileId: string): Promise<number | null> {
    try {
      return (await fs.promises.stat(this.pathOf(fileId))).size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Deletes a file, if it exists. */
  async discard(fileId: string): Promise<void> {
    await fs.promises.rm(this.pathOf(fileId), { force: true });
    await fs.promises.rm(`${this.pathOf(fileId)}.json`, { force: true }); // the upload size, as FileStore stores it
  }

  /**
   * Writes a part of the file at its offset instead of appending it. The bytes of an interrupted request may still be written while
   * the next request runs, possibly in another process; both then write the same bytes to the same positions.
   *
   * @returns the position after the part
   * @throws AppError storage_full
   */
  override async write(part: Readable, fileId: string, offset: number): Promise<number> {
    const file = fs.createWriteStream(this.pathOf(fileId), { flags: 'r+', start: offset });
    try {
      await pipeline(part, file);
    } catch (error) {
      if (isDiskFullError(error)) throw new AppError('storage_full', { cause: error });
      throw Object.assign(
        new Error('A part could not be written', { cause: error }),
        ERRORS.FILE_WRITE_ERROR, // status and text of the response
      );
    }
    return offset + file.bytesWritten;
  }
}

/** Returns whether the disk is full, or a quota or a file size limit is reached. */
function isDiskFullError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
