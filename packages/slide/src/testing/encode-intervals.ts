import sharp from 'sharp';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { marker, readJpegHeader } from '../jpeg/header.ts';

/** A JPEG with restart markers, and their positions. */
export interface IntervalJpeg {
  readonly bytes: Uint8Array;
  /** Position of each interval's data in the JPEG. */
  readonly starts: readonly number[];
}

export interface IntervalCoding {
  /**
   * Size of an interval in pixels, a multiple of 8, or of 16 with subsampled chroma (`half`). The width of the picture
   * is a multiple of it, except that the last 8 or 16 pixels may be incomplete.
   */
  readonly width: number;
  readonly height: number;
  readonly colour?: 'full' | 'half' | 'grey';
}

/**
 * Encodes a picture as one baseline JPEG with restart intervals, as slide scanners do. A width or height of more than
 * 65,535 pixels is declared as 0.
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
  const mcu = colour === 'half' ? 16 : 8;
  if (Math.ceil(picture.width / mcu) % (width / mcu) !== 0) {
    throw new Error(`${picture.width} pixels are no multiple of the interval width ${width}`);
  }
  const [first] = intervals as [Buffer, ...Buffer[]];
  const { frameAt, scanAt, dataAt } = readJpegHeader(first);
  const interval = (width / mcu) * (height / mcu);
  const head = Buffer.concat([
    first.subarray(0, scanAt),
    Uint8Array.of(0xff, marker.DRI, 0, 4, interval >> 8, interval & 0xff),
    first.subarray(scanAt, dataAt),
  ]);
  head.writeUInt16BE(picture.height > 0xffff ? 0 : picture.height, frameAt + 5);
  head.writeUInt16BE(picture.width > 0xffff ? 0 : picture.width, frameAt + 7);

  const pieces: Uint8Array[] = [head];
  const starts: number[] = [];
  let end = head.length;
  for (const [i, jpeg] of intervals.entries()) {
    const data = jpeg.subarray(readJpegHeader(jpeg).dataAt, -2);
    const isLast = i === intervals.length - 1;
    starts.push(end);
    pieces.push(data, Uint8Array.of(0xff, isLast ? marker.EOI : marker.RST0 + (i & 7)));
    end += data.length + 2;
  }
  return { bytes: Buffer.concat(pieces), starts };
}

/** Encodes with the standard tables, so that all intervals share them. */
function encode({ width, height, rgb }: Raster, colour: 'full' | 'half' | 'grey'): Promise<Buffer> {
  const pixels = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (colour === 'grey') pixels.toColourspace('b-w');
  const chromaSubsampling = colour === 'half' ? '4:2:0' : '4:4:4';
  return pixels.jpeg({ quality: 90, chromaSubsampling, optimiseCoding: false }).toBuffer();
}
