/**
 * Reader of a DICOM segmentation of the type LABELMAP, an image in which the value of each pixel is the number of a segment.
 * Source: DICOM PS3.3, sections A.51 and A.51.5 (label map segmentation), C.8.20 (segments), C.7.6.17.3 (tile positions).
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import { textDecodingOf } from './character-set.ts';
import { rgbOfCieLab } from './cie-lab.ts';
import type { DataSet } from './data-set.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { readFileMeta } from './file-meta.ts';
import { createPositionCollector, framePositionElements } from './frame-positions.ts';
import { openFrames } from './frames.ts';
import { limits, MIN_POSITION_BYTES } from './limits.ts';
import { type ElementSelection, readDataSet, valuesOf } from './read-data-set.ts';
import { nameOfTag, tag } from './tags.ts';
import { transferSyntaxOf } from './uids.ts';

interface Segment {
  /** Value of the pixels that belong to the segment. */
  readonly value: number;
  readonly name: string;
  /** Red, green and blue, 0…255 each; null when the file recommends no colour. */
  readonly color: readonly [number, number, number] | null;
}

/** A label map with the fields of `ValueImage` (value-image.ts), so that callers can read both in the same way. */
interface LabelMap {
  readonly width: number;
  readonly height: number;
  readonly type: 'uint8' | 'uint16';
  readonly palette: null;
  readonly segments: readonly Segment[];
  /**
   * Reads `count` rows, from row `top` on, into the target of `count` × `width` values; pixels outside of all frames become 0.
   *
   * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED
   */
  readRows(
    top: number,
    count: number,
    target: Uint8Array | Uint16Array | Float32Array | Float64Array,
  ): Promise<void>;
}

/** Maximum width and height of the whole image in pixels. */
const maxImageSide = 2 ** 31;
const maxSegments = 256;
const maxNameLength = 200;

const elements = new Map([
  ...valuesOf([
    tag.SpecificCharacterSet,
    tag.SegmentationType,
    tag.DimensionOrganizationType,
    tag.NumberOfFrames,
    tag.Rows,
    tag.Columns,
    tag.BitsAllocated,
    tag.TotalPixelMatrixColumns,
    tag.TotalPixelMatrixRows,
  ]),
  [
    tag.SegmentSequence,
    { items: valuesOf([tag.SegmentNumber, tag.SegmentLabel, tag.RecommendedDisplayCIELabValue]) },
  ],
] as const);

/**
 * Reads the header of an uncompressed label map.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED for other segmentations, FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function openLabelMap(source: ByteSource): Promise<LabelMap> {
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const syntax = transferSyntaxOf(meta.transferSyntax);
  const context = { isExplicit: syntax?.isExplicit ?? true, budget: { elements: limits.elements }, window };
  const { dataSet, end } = await readDataSet(
    context,
    meta.dataSetOffset,
    elements,
    (elementTag) => elementTag >= tag.PerFrameFunctionalGroupsSequence, // stops before this element
  );
  const type = dataSet.text(tag.SegmentationType) ?? 'none';
  if (type !== 'LABELMAP' || syntax === null || syntax.codec !== 'samples') {
    const description = `segmentation type ${type.slice(0, 16)}, transfer syntax ${meta.transferSyntax}`;
    throw new SlideError('FORMAT_NOT_SUPPORTED', `The file is no uncompressed label map: ${description}`);
  }
  const frames = readCount(dataSet, tag.NumberOfFrames, limits.frames, 1); // 1 when the file does not state it
  const tileWidth = readCount(dataSet, tag.Columns, limits.tileSide);
  const tileHeight = readCount(dataSet, tag.Rows, limits.tileSide);
  const width = readCount(dataSet, tag.TotalPixelMatrixColumns, maxImageSide, tileWidth);
  const height = readCount(dataSet, tag.TotalPixelMatrixRows, maxImageSide, tileHeight);
  const bits = dataSet.whole(tag.BitsAllocated);
  if (bits !== 8 && bits !== 16) throw corruptError(`its pixels have ${bits} bits instead of 8 or 16`);
  // With TILED_FULL, frames are in row-major order; otherwise each frame states its position.
  const isTiledFull = dataSet.text(tag.DimensionOrganizationType) === 'TILED_FULL';
  if (frames * (isTiledFull ? 1 : MIN_POSITION_BYTES) > source.size) {
    throw corruptError(`it is too small for the ${frames} frames it claims`);
  }
  // `undefined`: no optical paths are chosen, because a label map has one value per pixel, whatever the illumination was.
  const collector =
    isTiledFull || frames === 1 ? null : createPositionCollector(frames, undefined, undefined);
  context.budget.elements += frames * limits.elementsPerFrame;
  const remainingElements: ElementSelection =
    collector === null
      ? new Map()
      : new Map([
          [tag.PerFrameFunctionalGroupsSequence, { items: framePositionElements, onItem: collector.add }],
        ]);
  // `() => false`: reads on to the pixel data, where `readDataSet` always stops.
  const { dataSet: remaining } = await readDataSet(context, end, remainingElements, () => false);
  const pixelData = remaining.position(tag.PixelData);
  if (pixelData === null) throw corruptError('it has no pixels');
  const sampleBytes = bits / 8;
  const pixelLocation = { source, frames, pixelData, extendedOffsets: null, extendedLengths: null };
  const readFrame = openFrames(pixelLocation, syntax, tileWidth * tileHeight * sampleBytes);
  const framePositions = collector?.finish() ?? null;
  const columns = Math.ceil(width / tileWidth);
  // Left and top of a frame in pixels from 0; the file counts from 1.
  const leftOf = (frame: number) =>
    framePositions === null ? (frame % columns) * tileWidth : (framePositions.columns[frame] ?? 1) - 1;
  const topOf = (frame: number) =>
    framePositions === null
      ? Math.floor(frame / columns) * tileHeight
      : (framePositions.rows[frame] ?? 1) - 1;

  return {
    width,
    height,
    type: bits === 8 ? 'uint8' : 'uint16',
    palette: null,
    segments: segmentsOf(dataSet),
    async readRows(top, count, target) {
      target.fill(0);
      for (let frame = 0; frame < frames; frame++) {
        const frameLeft = leftOf(frame);
        const frameTop = topOf(frame);
        if (frameTop >= top + count || frameTop + tileHeight <= top) continue;
        const bytes = await readFrame(frame, 0); // 0: no free bytes before the frame
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const startX = Math.max(0, frameLeft);
        const endX = Math.min(width, frameLeft + tileWidth);
        const endY = Math.min(top + count, frameTop + tileHeight);
        for (let y = Math.max(top, frameTop); y < endY; y++) {
          for (let x = startX; x < endX; x++) {
            const pixel = (y - frameTop) * tileWidth + x - frameLeft;
            target[(y - top) * width + x] =
              sampleBytes === 1 ? view.getUint8(pixel) : view.getUint16(2 * pixel, true);
          }
        }
      }
    },
  };
}

type CountTag =
  | typeof tag.NumberOfFrames
  | typeof tag.Columns
  | typeof tag.Rows
  | typeof tag.TotalPixelMatrixColumns
  | typeof tag.TotalPixelMatrixRows;

/** Reads an integer from 1 to the limit. An absent element has the default; without a default, throws FILE_CORRUPT. */
function readCount(dataSet: DataSet, countTag: CountTag, limit: number, defaultValue?: number): number {
  const value = dataSet.whole(countTag) ?? defaultValue ?? 0;
  if (value < 1) throw corruptError(`${nameOfTag(countTag)} is ${value}`);
  if (value > limit) throw limitExceededError(`${nameOfTag(countTag)} is ${value}`);
  return value;
}

function segmentsOf(dataSet: DataSet): Segment[] {
  const decode = textDecodingOf(dataSet);
  const items = dataSet.items(tag.SegmentSequence);
  if (items.length > maxSegments) throw limitExceededError(`it has ${items.length} segments`);
  return items.map((item) => {
    const value = item.whole(tag.SegmentNumber) ?? 0;
    const lab = item.reals(tag.RecommendedDisplayCIELabValue);
    const rgb = lab.length === 3 ? rgbOfCieLab(lab) : null;
    return {
      value,
      name: (item.freeText(tag.SegmentLabel, decode) ?? String(value)).slice(0, maxNameLength),
      color: rgb && [rgb.r, rgb.g, rgb.b],
    };
  });
}
