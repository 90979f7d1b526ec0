/** Reads a file of objects: GeoJSON and other JSON, a table of points as CSV, both also compressed with gzip, Parquet, or DICOM annotations. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { isDicom, openFileSource, readBulkAnnotations } from '@lamina/slide';
import type { ContainerWriter } from './container.ts';
import { RefusedResult } from './problems.ts';
import { readFileStart } from './read-file-start.ts';
import { createObjectReader, type ResultObject, shapeOfCoordinates } from './read-objects.ts';
import { isParquet, readParquet } from './read-parquet.ts';
import { readPoints } from './read-points.ts';
import type { ImportTask } from './run-import.ts';
import { scanFeatures } from './scan-features.ts';
import { createVectorImporter, type VectorDescription } from './vector-import.ts';

/** Unpacked bytes of a compressed file: this many, or this many times its size. */
const minUnpackedBytes = 2 ** 30;
const maxUnpackedRatio = 100;
const partBytes = 2 ** 19;
/** Part of the progress that is reading. */
const readingPart = 0.7;

/** @throws RefusedResult, ContainerFull */
export async function importVectorFile(
  task: ImportTask,
  writer: ContainerWriter,
  matrix: readonly number[],
  onProgress: (done: number) => void,
): Promise<VectorDescription> {
  const { source, slide } = task;
  const importer = createVectorImporter(writer, {
    spillPath: `${task.target}.spill`,
    slide,
    matrix,
    maxSpillBytes: task.maxBytes,
  });
  try {
    const onRead = (done: number) => onProgress(done * readingPart);
    const start = await readFileStart(source);
    if (isDicom(start) || isParquet(start)) {
      if (isParquet(start)) await readParquet(source, slide.mpp, importer.add, onRead);
      else await readDicom(source, importer.add, onRead);
      return importer.finish((done) => onProgress(readingPart + done * (1 - readingPart)));
    }
    const { parts, isJson } = await openText(source, onRead);
    if (isJson) {
      const reader = createObjectReader();
      await scanFeatures(parts, {
        onObject: (scanned) => reader.read(scanned, importer.add),
        onTypeMap: (map) => reader.setTypeMap(map),
      });
    } else await readPoints(copied(parts), slide.mpp, importer.add);
    return importer.finish((done) => onProgress(readingPart + done * (1 - readingPart)));
  } finally {
    importer.close();
  }
}

/** Reads DICOM bulk annotations; their groups are the classes. @throws SlideError, RefusedResult */
async function readDicom(
  path: string,
  emit: (object: ResultObject) => void,
  onProgress: (done: number) => void,
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

/** The parser of tables refers to the parts that it was given. */
async function* copied(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const part of parts) yield Buffer.from(part);
}

async function openText(path: string, onProgress: (done: number) => void) {
  const file = await open(path, 'r');
  const { size } = await file.stat();
  const start = await file.read(Buffer.alloc(2), 0, 2, 0);
  const isGzip = start.bytesRead === 2 && start.buffer[0] === 0x1f && start.buffer[1] === 0x8b;
  const onRead = (bytes: number) => onProgress(bytes / size);
  let text: AsyncGenerator<Buffer>;
  if (isGzip) {
    await file.close();
    text = unpacked(path, size, onRead);
  } else text = partsOf(file, onRead);
  const parts = text[Symbol.asyncIterator]();
  const first = await parts.next();
  const isJson = !first.done && /^(?:\u{feff})?\s*[[{]/u.test(first.value.toString('utf8', 0, 1024));
  return { isJson, parts: withFirst(first, parts) };
}

async function* withFirst(
  first: IteratorResult<Buffer>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return(undefined);
  }
}

/** Reads a file into the same memory again and again: streams of large files leave their parts to the garbage collector. */
async function* partsOf(file: FileHandle, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  const memory = Buffer.allocUnsafe(partBytes);
  try {
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(memory, 0, memory.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      onRead(at);
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** @throws RefusedResult for a file that is damaged, or unpacks to far more than its size */
async function* unpacked(
  path: string,
  size: number,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: partBytes });
  let read = 0;
  file.on('data', (part) => {
    read += part.length;
    onRead(read);
  });
  const gunzip = createGunzip({ chunkSize: 2 ** 18 });
  file.on('error', (error) => gunzip.destroy(error));
  const most = Math.max(minUnpackedBytes, size * maxUnpackedRatio);
  let bytes = 0;
  try {
    for await (const part of file.pipe(gunzip)) {
      bytes += (part as Buffer).length;
      if (bytes > most) throw new RefusedResult('too_large', 'The file unpacks to too many bytes');
      yield part as Buffer;
    }
  } catch (error) {
    if (error instanceof RefusedResult || !isZlibError(error)) throw error;
    throw new RefusedResult('damaged', 'The file cannot be unpacked');
  } finally {
    file.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('Z_');
}
