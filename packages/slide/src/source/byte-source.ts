import { SlideError } from '../slide.ts';

/** Bytes that can be read from anywhere: a file, memory, later an object of a store. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number;
  /** Changes whenever the bytes do; URL-safe, at most 64 characters, says nothing of where they are. */
  readonly fingerprint: string;
  /**
   * Read exactly these bytes.
   *
   * @throws SlideError FILE_TRUNCATED when the source ends before them
   */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Read exactly `length` bytes into `target`, from its index `at`: the one read of a stored tile, into a
   * buffer that already holds what stands before it.
   *
   * @throws SlideError FILE_TRUNCATED when the source ends before them
   */
  readInto(
    target: Uint8Array,
    at: number,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Every read passes here first, so that no number a file invents reaches the operating system. */
export function checkRange(offset: number, length: number, size: number): void {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
    throw new SlideError('FILE_CORRUPT', `${length} bytes at ${offset} cannot be read`);
  }
  if (offset + length > size) {
    throw new SlideError('FILE_TRUNCATED', `The file ends at ${size}, before ${length} bytes at ${offset}`);
  }
}
