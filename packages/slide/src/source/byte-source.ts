import { SlideError } from '../model/slide.ts';

/** Random access to the bytes of a file, of a buffer in memory, or of an object in object storage. */
export interface ByteSource {
  /** Total bytes. */
  readonly size: number;
  /** Changes whenever the bytes change. URL-safe, at most 64 characters; reveals no path. */
  readonly fingerprint: string;
  /**
   * Reads exactly `length` bytes from byte `offset` of the source on.
   *
   * @throws SlideError the errors of `checkRange`, and those of the file or the storage; `signal.reason` after an abort
   */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Reads exactly `length` bytes at `offset` of the source into `target`, where they begin at index `targetStart`.
   * The buffer may already contain other bytes, such as JPEG tables that the file stores apart from the tile.
   *
   * @throws the errors of `read`
   */
  readInto(
    target: Uint8Array,
    targetStart: number,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/**
 * Validates a range before every read, so that no invalid number from a file reaches the operating system.
 *
 * @param size bytes of the source
 * @throws SlideError FILE_CORRUPT for a number that is negative or not a safe integer; FILE_TRUNCATED when the range
 *   extends beyond the end of the source
 */
export function checkRange(offset: number, length: number, size: number): void {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
    throw new SlideError('FILE_CORRUPT', `The byte range is invalid: offset ${offset}, length ${length}`);
  }
  if (offset + length > size) {
    throw new SlideError(
      'FILE_TRUNCATED',
      `The file ends at byte ${size}, but ${length} bytes at offset ${offset} are needed`,
    );
  }
}
