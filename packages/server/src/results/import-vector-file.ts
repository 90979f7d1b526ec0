/**
 * Imports a file with objects, such as detected cells, into a vector layer. Formats: GeoJSON and other JSON, tables of points as CSV
 * (both optionally compressed with gzip), Parquet, and DICOM bulk annotations. The content decides the format, not the file name.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { isDicom, openFileSource, readBulkAnnotations } from '@lamina/slide/result-files';
import type { ContainerWriter } from './container.ts';
import { prependPart } from './prepend-part.ts';
import { ImportRejectedError } from './problems.ts';
import { readFileStart } from './read-file-start.ts';
import { createObjectReader, type ResultObject, shapeOfCoordinates } from './read-objects.ts';
import { isParquet, readParquet } from './read-parquet.ts';
import { readPoints } from './read-points.ts';
import type { ImportTask } from './run-import.ts';
import { scanFeatures } from './scan-features.ts';
import { createVectorImporter, type VectorDescription } from './vector-import.ts';

/** A gzip file may unpack to 1 GiB or 100 times its own size, whichever is larger. The limit stops decompression bombs. */
const minUnpackedLimit = 2 ** 30;
const maxUnpackedRatio = 100;
/** Number of bytes that one call reads, and that one step of unpacking yields. */
const partBytes = 2 ** 19;
const unpackedPartBytes = 2 ** 18;
/** Share of the progress bar for reading the file; the rest is for writing the layer. */
const readingFraction = 0.7;

/**
 * Reads the objects of a file and writes the sections of the layer.
 *
 * @param matrix transform from coordinates of the file to pixels of level 0, the full resolution (see `ResultRegistration`)
 * @param onProgress called with the completed fraction, 0 to 1
 * @throws ImportRejectedError, SlideError for DICOM, ContainerFull
 */
export async function importVectorFile(
  task: ImportTask,
  writer: ContainerWriter,
  matrix: readonly number[],
  onProgress: (fraction: number) => void,
): Promise<VectorDescription> {
  const { source, slide } = task;
  const importer = createVectorImporter(writer, {
    spillPath: `${task.target}.spill`,
    slide,
    matrix,
    maxSpillBytes: task.maxBytes,
  });
  try {
    const onRead = (fraction: number) => onProgress(fraction * readingFraction);
    const onWritten = (fraction: number) => onProgress(readingFraction + fraction * (1 - readingFraction));
    const fileStart = await readFileStart(source);
    if (isDicom(fileStart) || isParquet(fileStart)) {
      if (isParquet(fileStart)) await readParquet(source, slide.mpp, importer.add, onRead);
      else await readDicom(source, importer.add, onRead);
      return importer.finish(onWritten);
    }
    const { parts, isJson } = await openText(source, onRead);
    if (isJson) {
      const reader = createObjectReader();
      await scanFeatures(parts, {
        onObject: (scanned) => reader.read(scanned, importer.add),
        onTypeMap: (map) => reader.setTypeMap(map), // class names by number, as HoVerNet writes them
      });
    } else await readPoints(copyParts(parts), slide.mpp, importer.add);
    return importer.finish(onWritten);
  } finally {
    importer.close();
  }
}

/** Reads DICOM bulk annotations; each annotation group becomes a class. @throws SlideError, ImportRejectedError */
async function readDicom(
  path: string,
  emit: (object: ResultObject) => void,
  onProgress: (fraction: number) => void,
): Promise<void> {
  const source = await openFileSource(path);
  try {
    await readBulkAnnotations(
      source,
      ({ graphic, coordinates, group, color, measurements }) =>
        emit({
          ...shapeOfCoordinates(graphic, coordinates),
          className: group === '' ? null : group,
          classColor: color,
          id: null,
          measurements,
        }),
      onProgress,
    );
  } finally {
    await source.close();
  }
}

/** Copies each part, because the parser of tables keeps references to parts whose memory is reused for the next part. */
async function* copyParts(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const part of parts) yield Buffer.from(part);
}

/**
 * Opens a text file, which may be compressed with gzip. Returns the parts of the unpacked text, and whether it is JSON; otherwise it is a
 * table. JSON is a text whose first character, after an optional byte order mark and white space, is a bracket or a brace.
 */
async function openText(path: string, onProgress: (fraction: number) => void) {
  const file = await open(path, 'r');
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  const isGzip = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b; // RFC 1952, section 2.3.1
  const onRead = (bytes: number) => onProgress(bytes / size);
  let text: AsyncGenerator<Buffer>;
  if (isGzip) {
    await file.close();
    text = unpackGzip(path, size, onRead);
  } else text = readParts(file, onRead);
  const parts = text[Symbol.asyncIterator]();
  const firstPart = await parts.next();
  const isJson = !firstPart.done && /^(?:\u{feff})?\s*[[{]/u.test(firstPart.value.toString('utf8', 0, 1024));
  return { isJson, parts: prependPart(firstPart, parts) };
}

/**
 * Reads a file in parts of 512 KiB, all into the same memory: a part is valid only until the next one is requested. A stream
 * would allocate memory for each part, which the garbage collector frees too late for large files.
 */
async function* readParts(file: FileHandle, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  const memory = Buffer.allocUnsafe(partBytes);
  try {
    let offset = 0;
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, memory.length, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      onRead(offset);
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Unpacks a gzip file. @throws ImportRejectedError damaged, or too_large when it unpacks to more than the limit */
async function* unpackGzip(
  path: string,
  size: number, // of the packed file, in bytes
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: partBytes });
  let packedBytes = 0;
  file.on('data', (part) => {
    packedBytes += part.length;
    onRead(packedBytes);
  });
  const gunzip = createGunzip({ chunkSize: unpackedPartBytes });
  file.on('error', (error) => gunzip.destroy(error));
  const maxUnpackedBytes = Math.max(minUnpackedLimit, size * maxUnpackedRatio);
  let unpackedBytes = 0;
  try {
    for await (const part of file.pipe(gunzip)) {
      unpackedBytes += (part as Buffer).length;
      if (unpackedBytes > maxUnpackedBytes)
        throw new ImportRejectedError('too_large', 'The file unpacks to too many bytes');
      yield part as Buffer;
    }
  } catch (error) {
    if (error instanceof ImportRejectedError || !isZlibError(error)) throw error;
    throw new ImportRejectedError('damaged', 'The file cannot be unpacked');
  } finally {
    file.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('Z_');
}
