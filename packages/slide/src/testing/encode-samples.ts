import type { Packing } from '../model/slide.ts';
import { tag } from '../tiff/tags.ts';
import { type DirectoryPlan, long, short } from './build-tiff.ts';
import { pack } from './pack.ts';

/** The samples of an image, and how a TIFF file stores them. */
export interface SamplesPlan {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** All samples of the first pixel, then those of the next one: width × height × samplesPerPixel values below 2^bits. */
  readonly samples: ArrayLike<number>;
  readonly samplesPerPixel: number;
  /** Bits per sample; by default 8. */
  readonly bits?: 1 | 2 | 4 | 8 | 16;
  /** PhotometricInterpretation: 1 grey, 2 RGB, 3 palette, … */
  readonly photometric: number;
  /** Compression; by default `deflate`. `old-lzw` is the variant of writers before 1991. */
  readonly packing?: Packing | 'old-lzw';
  /** Tile size in pixels; absent for strips. */
  readonly tile?: { readonly width: number; readonly height: number };
  /** Rows of a strip; by default one strip contains the whole image. */
  readonly rowsPerStrip?: number;
  /** Whether each sample has its own plane; by default false. */
  readonly isPlanar?: boolean;
  /** Whether samples are stored as differences from the pixel on the left (Predictor 2); by default false. */
  readonly isDifferenced?: boolean;
  /** Whether 16-bit samples are little-endian, which must be the byte order of the file; by default true. */
  readonly isLittleEndian?: boolean;
  /** Whether the bits of each byte are stored in reverse order (FillOrder 2); by default false. */
  readonly isBitReversed?: boolean;
  /** Further tags of the directory, which replace generated tags of the same number. */
  readonly tags?: DirectoryPlan['tags'];
}

/** Values of the TIFF tag Compression. */
const compressions = { none: 1, lzw: 5, 'old-lzw': 5, packbits: 32773, deflate: 8, zstd: 50000 };

/** Builds a TIFF directory with an image in tiles or strips, compressed as TIFF writers do. */
export function encodeSamples(plan: SamplesPlan): DirectoryPlan {
  const { width, height, samplesPerPixel, tile, isPlanar = false, packing = 'deflate', bits = 8 } = plan;
  const blockWidth = tile?.width ?? width;
  const blockHeight = tile?.height ?? plan.rowsPerStrip ?? height;
  const blocks: Uint8Array[] = [];
  for (let plane = 0; plane < (isPlanar ? samplesPerPixel : 1); plane++) {
    for (let top = 0; top < height; top += blockHeight) {
      for (let left = 0; left < width; left += blockWidth) {
        // Tiles at the bottom have full height; the last strip ends with the image.
        const rows = tile ? blockHeight : Math.min(blockHeight, height - top);
        const packed = pack(blockOf(plan, left, top, blockWidth, rows, isPlanar ? plane : null), packing);
        blocks.push(plan.isBitReversed ? packed.map(reverseBits) : packed);
      }
    }
  }
  return {
    tags: {
      [tag.ImageWidth]: long(width),
      [tag.ImageLength]: long(height),
      [tag.BitsPerSample]: short(...new Array<number>(samplesPerPixel).fill(bits)),
      [tag.Compression]: short(compressions[packing]),
      [tag.PhotometricInterpretation]: short(plan.photometric),
      [tag.SamplesPerPixel]: short(samplesPerPixel),
      [tag.PlanarConfiguration]: short(isPlanar ? 2 : 1),
      ...(plan.isDifferenced && { [tag.Predictor]: short(2) }),
      ...(plan.isBitReversed && { [tag.FillOrder]: short(2) }),
      ...(tile && { [tag.TileWidth]: short(tile.width), [tag.TileLength]: short(tile.height) }),
      ...(plan.rowsPerStrip && { [tag.RowsPerStrip]: long(plan.rowsPerStrip) }),
      ...plan.tags,
    },
    [tile ? 'tiles' : 'strips']: blocks,
  };
}

/**
 * Returns the bytes of a tile or strip before packing; samples outside the image are 0.
 *
 * @param left position of the block in pixels of the image
 * @param plane index of the only sample to store; null stores all samples of a pixel
 */
function blockOf(
  plan: SamplesPlan,
  left: number,
  top: number,
  width: number,
  rows: number,
  plane: number | null,
): Uint8Array {
  const { samplesPerPixel, bits = 8, isDifferenced, isLittleEndian = true } = plan;
  const storedPerPixel = plane === null ? samplesPerPixel : 1;
  const sampleAt = (x: number, y: number, sample: number): number => {
    if (x >= plan.width || y >= plan.height) return 0;
    return plan.samples[(y * plan.width + x) * samplesPerPixel + sample] ?? 0;
  };
  const rowBytes = Math.ceil((width * storedPerPixel * bits) / 8);
  const bytes = new Uint8Array(rowBytes * rows);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width * storedPerPixel; i++) {
      const [x, sample] = [Math.floor(i / storedPerPixel), plane ?? i % storedPerPixel];
      const leftSample = isDifferenced && x > 0 ? sampleAt(left + x - 1, top + row, sample) : 0;
      const value = (sampleAt(left + x, top + row, sample) - leftSample) & (2 ** bits - 1);
      if (bits === 16) view.setUint16(row * rowBytes + i * 2, value, isLittleEndian);
      else {
        // A byte holds several samples, the first one in the highest bits.
        const byteIndex = row * rowBytes + Math.floor((i * bits) / 8);
        const shift = 8 - bits - ((i * bits) % 8);
        bytes[byteIndex] = (bytes[byteIndex] ?? 0) | (value << shift);
      }
    }
  }
  return bytes;
}

function reverseBits(byte: number): number {
  let bits = 0;
  for (let i = 0; i < 8; i++) bits |= ((byte >> i) & 1) << (7 - i);
  return bits;
}
