/**
 * The file of a result layer: written once by an import, then read by range and never changed. After a magic number come the
 * sections of the kind (raster-import.ts, vector-import.ts), then their description as JSON, its length, and the magic number
 * again. A file without the end was not finished.
 */
import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const magic = Buffer.from('LMRESLT1');
const trailerBytes = 4 + magic.length;
const maxDescriptionBytes = 16 * 2 ** 20;

export interface ContainerWriter {
  /** Appends bytes. @returns their offset */
  append(bytes: Uint8Array): number;
  /** Reserves space that is written later. @returns its offset */
  reserve(length: number): number;
  writeAt(offset: number, bytes: Uint8Array): void;
  /** Reads back what was written. */
  readAt(offset: number, length: number): Buffer;
  readonly size: number;
  /** Writes the description and closes the file. */
  finish(description: object): void;
  abort(): void;
}

/** Creates a file; synchronous, for worker threads. @param maxBytes size that the file must not exceed */
export function createContainer(path: string, maxBytes: number): ContainerWriter {
  const file = fs.openSync(path, 'w+');
  let size = 0;

  function writeAt(offset: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(file, bytes, at, bytes.length - at, offset + at);
  }
  function reserve(length: number): number {
    const offset = size;
    size += length;
    if (size > maxBytes) throw new ContainerFull();
    return offset;
  }
  function append(bytes: Uint8Array): number {
    const offset = reserve(bytes.length);
    writeAt(offset, bytes);
    return offset;
  }
  append(magic);

  return {
    append,
    reserve,
    writeAt,
    get size() {
      return size;
    },
    readAt(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; ) {
        const read = fs.readSync(file, bytes, at, length - at, offset + at);
        if (read === 0) throw new Error('A result file ends early.');
        at += read;
      }
      return bytes;
    },
    finish(description) {
      const json = Buffer.from(JSON.stringify(description));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(json.length);
      writeAt(size, Buffer.concat([json, length, magic]));
      fs.fsyncSync(file);
      fs.closeSync(file);
    },
    abort() {
      fs.closeSync(file);
      fs.rmSync(path, { force: true });
    },
  };
}

/** The result would be larger than the space that is left for it. */
export class ContainerFull extends Error {
  override readonly name = 'ContainerFull';
}

export interface Container {
  /** Written by this program; checked by its length and magic number only. */
  readonly description: unknown;
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** @throws Error when the file is missing or not complete */
export async function openContainer(path: string): Promise<Container> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const trailer = await readFrom(file, Math.max(0, size - trailerBytes), trailerBytes);
    const length = trailer.readUInt32LE();
    const isComplete = trailer.subarray(4).equals(magic) && length <= maxDescriptionBytes;
    if (!isComplete) throw new Error('A result file is not complete.');
    const json = await readFrom(file, size - trailerBytes - length, length);
    return {
      description: JSON.parse(json.toString()),
      read: (offset, bytes) => readFrom(file, offset, bytes),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readFrom(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) throw new Error('A result file ends early.');
    at += bytesRead;
  }
  return bytes;
}
