import sharp from 'sharp';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { marker, readJpegHeader } from '../jpeg/header.ts';

/** A JPEG with restart markers, and where they are. */
export interface IntervalJpeg {
  readonly bytes: Uint8Array;
  /** Where each interval's data begin, from the first byte. */
  readonly starts: readonly number[];
}

export interface IntervalCoding {
  /**
   * Pixels of one interval: whole MCUs, of 8 pixels or, with colours at half resolution, of 16. Every row of the
   * picture has the same whole number of them; in its last MCU alone something may be missing.
   */
  readonly width: number;
  readonly height: number;
  readonly colour?: 'full' | 'half' | 'grey';
}

/**
 * A picture as one baseline JPEG whose restart markers cut it into these intervals, as slide scanners write it.
 * A width or height beyond 65,535 is written as 0.
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
    throw new Error(`${picture.width} pixels are no whole number of intervals of ${width}`);
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

/** With the tables of the standard, so that all have the same. */
function encode({ width, height, rgb }: Raster, colour: 'full' | 'half' | 'grey'): Promise<Buffer> {
  const pixels = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (colour === 'grey') pixels.toColourspace('b-w');
  const chromaSubsampling = colour === 'half' ? '4:2:0' : '4:4:4';
  return pixels.jpeg({ quality: 90, chromaSubsampling, optimiseCoding: false }).toBuffer();
}
