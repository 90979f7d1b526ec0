import sharp from 'sharp';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { marker, readJpegHeader } from '../jpeg/header.ts';

/** A JPEG with restart markers, which divide its compressed data into intervals that can be decoded separately. */
export interface IntervalJpeg {
  readonly bytes: Uint8Array;
  /** Position in the JPEG of the first byte of each interval; the marker before the interval is not part of it. */
  readonly starts: readonly number[];
}

export interface IntervalCoding {
  /**
   * Size of an interval in pixels: a multiple of a JPEG block, which has 8 × 8 pixels, or 16 × 16 with subsampled
   * chroma (`half`). The number of blocks in a row of the image must be a multiple of the number of blocks in a row of
   * an interval; the last block of the image's row may be incomplete.
   */
  readonly width: number;
  readonly height: number;
  /** YCbCr with chroma of full or half resolution, or grey; by default `full`. */
  readonly colour?: 'full' | 'half' | 'grey';
}

/**
 * Encodes an image as one baseline JPEG with restart intervals, as slide scanners do. A width or height of more than
 * 65,535 pixels, which does not fit into its 16-bit field, is declared as 0.
 */
export async function encodeIntervals(
  picture: Raster,
  { width, height, colour = 'full' }: IntervalCoding,
): Promise<IntervalJpeg> {
  const intervals: Buffer[] = [];
  for (let y = 0; y < picture.height; y += height) {
    for (let x = 0; x < picture.width; x += width) {
      const [w, h] = [Math.min(width, picture.width - x), Math.min(height, picture.height - y)];
      intervals.push(await encode(cropRaster(picture, x, y, w, h), colour));
    }
  }
  /** Side of a block (MCU) in pixels. */
  const mcuSide = colour === 'half' ? 16 : 8;
  if (Math.ceil(picture.width / mcuSide) % (width / mcuSide) !== 0) {
    throw new Error(`${picture.width} pixels are not a multiple of the interval width ${width}`);
  }
  const [first] = intervals as [Buffer, ...Buffer[]];
  const { frameAt, scanAt, dataAt } = readJpegHeader(first);
  const blocksPerInterval = (width / mcuSide) * (height / mcuSide);
  const restartSegment = [0xff, marker.DRI, 0, 4, blocksPerInterval >> 8, blocksPerInterval & 0xff];
  const head = Buffer.concat([
    first.subarray(0, scanAt),
    Uint8Array.from(restartSegment),
    first.subarray(scanAt, dataAt),
  ]);
  // Height and width (at 5 and 7 of the frame segment) are those of the first interval, so those of the whole image
  // replace them.
  head.writeUInt16BE(picture.height > 0xffff ? 0 : picture.height, frameAt + 5);
  head.writeUInt16BE(picture.width > 0xffff ? 0 : picture.width, frameAt + 7);

  const pieces: Uint8Array[] = [head];
  const starts: number[] = [];
  let end = head.length;
  for (const [i, jpeg] of intervals.entries()) {
    const data = jpeg.subarray(readJpegHeader(jpeg).dataAt, -2); // without the end-of-image marker
    const isLast = i === intervals.length - 1;
    const restartMarker = marker.RST0 + (i % 8);
    starts.push(end);
    pieces.push(data, Uint8Array.of(0xff, isLast ? marker.EOI : restartMarker));
    end += data.length + 2;
  }
  return { bytes: Buffer.concat(pieces), starts };
}

/** Encodes with the standard Huffman tables, so that all intervals can share the tables of the first one. */
function encode({ width, height, rgb }: Raster, colour: 'full' | 'half' | 'grey'): Promise<Buffer> {
  const pixels = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (colour === 'grey') pixels.toColourspace('b-w');
  const chromaSubsampling = colour === 'half' ? '4:2:0' : '4:4:4';
  return pixels.jpeg({ quality: 90, chromaSubsampling, optimiseCoding: false }).toBuffer();
}
