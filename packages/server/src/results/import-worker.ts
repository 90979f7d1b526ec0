/**
 * The worker thread that run-import.ts starts: it reads a result file, which may be malicious, and writes the file of the
 * layer. `workerData` is the ImportTask; the thread posts its progress and finally the ImportOutcome.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ResultRegistration } from '@lamina/contract';
import { resultLimits } from '@lamina/contract/result-limits';
import {
  isDicom,
  openFileSource,
  openLabelMap,
  openValueTiff,
  type ValueImage,
} from '@lamina/slide/result-files';
import type { ThreadProgress } from '../platform/run-in-thread.ts';
import { createContainer } from './container.ts';
import { importVectorFile } from './import-vector-file.ts';
import { isPng, openPngValues } from './png-values.ts';
import { problemOf } from './problem-of.ts';
import { ImportRejectedError } from './problems.ts';
import { categoryColor, importRaster, type RasterCategory } from './raster-import.ts';
import { readFileStart } from './read-file-start.ts';
import type { ImportOutcome, ImportTask } from './run-import.ts';

/**
 * Returns the transform from pixels of the result to pixels of level 0 (full resolution) of the slide: the numbers a to f in
 * x' = ax + cy + e and y' = bx + dy + f.
 *
 * @param rasterSize null for objects, whose coordinates are pixels of level 0 by default
 * @throws ImportRejectedError not_registered
 */
function matrixOf(
  registration: ResultRegistration,
  { width, height, mpp }: ImportTask['slide'],
  rasterSize: { readonly width: number; readonly height: number } | null,
): readonly number[] {
  if (registration.method === 'affine') return registration.matrix;
  if (registration.method === 'pixel-size') {
    if (mpp === null) throw new ImportRejectedError('not_registered', 'The slide has no pixel size');
    return [registration.mpp / mpp.x, 0, 0, registration.mpp / mpp.y, 0, 0];
  }
  if (rasterSize === null) return [1, 0, 0, 1, 0, 0];
  return [width / rasterSize.width, 0, 0, height / rasterSize.height, 0, 0]; // the raster covers the whole slide
}

type RasterFile = ValueImage & {
  /** Categories that the file names. Undefined: the import derives them from the values. */
  readonly categories?: readonly RasterCategory[];
  close(): unknown;
};

/** Opens a PNG, a DICOM label map or a TIFF; the content decides the format. @throws ImportRejectedError, SlideError */
async function openRasterFile(path: string): Promise<RasterFile> {
  const fileStart = await readFileStart(path);
  if (isPng(fileStart)) return openPngValues(path);
  if (isDicom(fileStart)) {
    const dicom = await openFileSource(path);
    const labelMap = await openLabelMap(dicom);
    if (labelMap.segments.some(({ value }) => value > 255)) {
      await dicom.close();
      throw new ImportRejectedError(
        'unsupported',
        'A segment has a number above 255, which 8-bit tiles cannot contain',
      );
    }
    const black = [0, 0, 0] as const;
    const categories = labelMap.segments.map(({ value, name, color }, index) => ({
      value,
      name,
      color: color ?? (value === 0 ? black : categoryColor(index)), // value 0 is the background
    }));
    return { ...labelMap, categories, close: () => dicom.close() };
  }
  const isTiff = ['II', 'MM'].includes(String.fromCharCode(...fileStart.subarray(0, 2))); // the byte order mark of TIFF
  if (!isTiff) throw new ImportRejectedError('unknown_format', 'The file is neither TIFF, PNG nor DICOM');
  const source = await openFileSource(path);
  return { ...(await openValueTiff(source)), close: () => source.close() };
}

const onProgress = (fraction: number) =>
  parentPort?.postMessage({ progress: fraction } satisfies ThreadProgress);

async function importFile(task: ImportTask): Promise<ImportOutcome> {
  const writer = createContainer(task.target, task.maxBytes);
  try {
    if (task.kind === 'vector') {
      const matrix = matrixOf(task.registration, task.slide, null);
      const description = await importVectorFile(task, writer, matrix, onProgress);
      writer.finish(description);
      return { ok: true, sizeBytes: writer.size, objects: description.objects };
    }
    const image = await openRasterFile(task.source);
    try {
      writer.finish(
        await importRaster(image, writer, {
          maxPixels: resultLimits.rasterPixels,
          isMask: task.isMask,
          categories: image.categories,
          registrationFor: (width, height) => matrixOf(task.registration, task.slide, { width, height }),
          onProgress,
        }),
      );
    } finally {
      await image.close();
    }
    return { ok: true, sizeBytes: writer.size, objects: null };
  } catch (error) {
    writer.abort();
    return { ok: false, problem: problemOf(error), message: (error as Error).message };
  }
}

parentPort?.postMessage(await importFile(workerData as ImportTask));
