/**
 * The file format of result layers, the output of analysis programs for a slide. An import writes a file once; afterwards the server
 * only reads byte ranges of it. Layout: magic number, sections (see raster-import.ts and vector-import.ts), a description of the
 * sections as JSON, the length of this JSON (Uint32, little-endian), and the magic number again, which marks a complete file.
 */
import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const magic = Buffer.from('LMRESLT1');
const trailerBytes = 4 + magic.length; // the length of the description, and the magic number
/** A file that states a longer description counts as damaged. */
const maxDescriptionBytes = 16 * 2 ** 20;

export interface ContainerWriter {
  /** Appends bytes. @returns their offset in the file. @throws ContainerFull */
  append(bytes: Uint8Array): number;
  /** Reserves bytes, which `writeAt` writes later. @returns their offset in the file. @throws ContainerFull */
  reserve(length: number): number;
  /** Writes bytes at an offset for which `reserve` has reserved space. */
  writeAt(offset: number, bytes: Uint8Array): void;
  /** Reads bytes that were written before. */
  readAt(offset: number, length: number): Buffer;
  /** Size of the file in bytes, without the description. */
  readonly size: number;
  /** Completes the file: writes the description and the trailer, and closes the file. */
  finish(description: object): void;
  /** Closes and deletes the file. */
  abort(): void;
}

/**
 * Creates a file. The functions of its writer are synchronous, because imports run in a worker thread.
 *
 * @param maxBytes maximum size of the file without its description
 */
export function createContainer(path: string, maxBytes: number): ContainerWriter {
  const file = fs.openSync(path, 'w+');
  let size = magic.length;

  function writeAt(offset: number, bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      written += fs.writeSync(file, bytes, written, bytes.length - written, offset + written);
    }
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
  writeAt(0, magic); // unchecked: if it exceeds `maxBytes`, the first section throws ContainerFull

  return {
    append,
    reserve,
    writeAt,
    get size() {
      return size;
    },
    readAt(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const bytesRead = fs.readSync(file, bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) throw new Error('A result file ends early.');
        filled += bytesRead;
      }
      return bytes;
    },
    finish(description) {
      const json = Buffer.from(JSON.stringify(description));
      const jsonLength = Buffer.alloc(4);
      jsonLength.writeUInt32LE(json.length);
      writeAt(size, Buffer.concat([json, jsonLength, magic]));
      fs.fsyncSync(file);
      fs.closeSync(file);
    },
    abort() {
      fs.closeSync(file);
      fs.rmSync(path, { force: true });
    },
  };
}

/** Thrown when a result would be larger than the remaining quota. */
export class ContainerFull extends Error {
  override readonly name = 'ContainerFull';
}

export interface Container {
  /** Parsed JSON. `openContainer` checks only its length and the magic number, not its fields, because this server wrote the file. */
  readonly description: unknown;
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens a file for reading. @throws Error when it is missing or incomplete */
export async function openContainer(path: string): Promise<Container> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const trailer = await readFrom(file, Math.max(0, size - trailerBytes), trailerBytes);
    const jsonLength = trailer.readUInt32LE();
    const isComplete = trailer.subarray(4).equals(magic) && jsonLength <= maxDescriptionBytes;
    if (!isComplete) throw new Error('A result file is not complete.');
    const json = await readFrom(file, size - trailerBytes - jsonLength, jsonLength);
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
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) throw new Error('A result file ends early.');
    filled += bytesRead;
  }
  return bytes;
}
