import type { Raster } from '../decode/raster.ts';
import type { Packing } from '../model/slide.ts';
import { tag } from '../tiff/tags.ts';
import { type DirectoryPlan, long, short } from './build-tiff.ts';
import { pack } from './pack.ts';

/** An image to store in a TIFF file without loss. */
export interface LosslessPlan {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Side of a tile in pixels; null for strips of 16 rows. */
  readonly tileSize: number | null;
  readonly samplesPerPixel: 1 | 3;
  readonly bits: 8 | 16;
  /** Whether 16-bit samples are little-endian, which must be the byte order of the file; by default true. */
  readonly isLittleEndian?: boolean;
  /** Compression; by default `deflate`. */
  readonly packing?: Packing;
  /** Returns a sample. `x` and `y` count pixels from the top left; `sample` is the index within the pixel. */
  readonly sampleAt: (x: number, y: number, sample: number) => number;
}

/** Values of the TIFF tag Compression. */
const compressions: Readonly<Record<Packing, number>> = {
  none: 1,
  lzw: 5,
  deflate: 8,
  packbits: 32_773,
  zstd: 50_000,
};

/** Builds a TIFF directory with these grey or RGB samples, compressed without loss. Samples of a tile beyond the image edge are 99. */
export function losslessDirectory(plan: LosslessPlan): DirectoryPlan {
  const { width, height, tileSize, samplesPerPixel, bits, packing = 'deflate' } = plan;
  const [blockWidth, blockHeight] = tileSize === null ? [width, 16] : [tileSize, tileSize];
  const blocks: Uint8Array[] = [];
  for (let top = 0; top < height; top += blockHeight) {
    const rows = tileSize === null ? Math.min(blockHeight, height - top) : blockHeight;
    for (let left = 0; left < width; left += blockWidth) {
      blocks.push(pack(samplesOf(plan, left, top, blockWidth, rows), packing));
    }
  }
  return {
    tags: {
      [tag.ImageWidth]: long(width),
      [tag.ImageLength]: long(height),
      [tag.BitsPerSample]: short(...Array.from({ length: samplesPerPixel }, () => bits)),
      [tag.Compression]: short(compressions[packing]),
      [tag.PhotometricInterpretation]: short(samplesPerPixel === 1 ? 1 : 2), // grey or RGB
      [tag.SamplesPerPixel]: short(samplesPerPixel),
      [tag.PlanarConfiguration]: short(1), // interleaved samples
      ...(tileSize === null
        ? { [tag.RowsPerStrip]: long(blockHeight) }
        : { [tag.TileWidth]: short(tileSize), [tag.TileLength]: short(tileSize) }),
    },
    [tileSize === null ? 'strips' : 'tiles']: blocks,
  };
}

/**
 * Builds a TIFF directory with exactly the pixels of an image.
 *
 * @param tileSize side in pixels; null for strips of 16 rows
 */
export function losslessPicture(
  { width, height, rgb }: Raster,
  tileSize: number | null,
  packing: Packing = 'deflate',
): DirectoryPlan {
  const sampleAt = (x: number, y: number, sample: number) => rgb[(y * width + x) * 3 + sample] as number;
  return losslessDirectory({ width, height, tileSize, samplesPerPixel: 3, bits: 8, packing, sampleAt });
}

/** Returns a copy of a directory with these tags added or replaced; undefined stands for an empty directory. */
export function withTags(directory: DirectoryPlan | undefined, tags: DirectoryPlan['tags']): DirectoryPlan {
  return { ...directory, tags: { ...directory?.tags, ...tags } };
}

/** Returns the bytes of a tile or strip before packing. @param left position of the block in pixels of the image */
function samplesOf(plan: LosslessPlan, left: number, top: number, width: number, rows: number): Uint8Array {
  const { samplesPerPixel, bits, isLittleEndian = true, sampleAt } = plan;
  const bytes = new Uint8Array((width * rows * samplesPerPixel * bits) / 8);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (let y = top; y < top + rows; y++) {
    for (let x = left; x < left + width; x++) {
      const isInside = x < plan.width && y < plan.height;
      for (let sample = 0; sample < samplesPerPixel; sample++) {
        const value = isInside ? sampleAt(x, y, sample) : 99;
        if (bits === 8) view.setUint8(at, value);
        else view.setUint16(at, value, isLittleEndian);
        at += bits / 8;
      }
    }
  }
  return bytes;
}
