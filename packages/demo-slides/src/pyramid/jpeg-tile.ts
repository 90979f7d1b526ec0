/** Encodes tiles as JPEG and splits each stream into tables and image data, as TIFF stores them. */
import sharp from 'sharp';
import { TILE_SIZE } from './pyramid-plan.ts';

export const QUALITY = 78;

/** A JPEG stream split as TIFF stores it: the tables once per level, the rest per tile. */
export interface SplitJpeg {
  /** SOI, quantisation and Huffman tables, EOI. */
  readonly tables: Buffer;
  /** SOI, frame, scan, EOI. */
  readonly tile: Buffer;
}

export async function encode(pixels: Uint8Array): Promise<SplitJpeg> {
  const jpeg = await sharp(pixels, { raw: { width: TILE_SIZE, height: TILE_SIZE, channels: 3 } })
    // With optimised Huffman tables every tile would have its own tables.
    .jpeg({ quality: QUALITY, chromaSubsampling: '4:2:0', optimiseCoding: false })
    .toBuffer();
  return splitJpeg(jpeg);
}

function splitJpeg(jpeg: Buffer): SplitJpeg {
  const [startOfImage, endOfImage] = [jpeg.subarray(0, 2), jpeg.subarray(-2)];
  const tables: Buffer[] = [];
  const rest: Buffer[] = [];
  let at = 2;
  for (;;) {
    const marker = jpeg.readUInt16BE(at);
    if (marker === 0xffda) break;
    const segment = jpeg.subarray(at, at + 2 + jpeg.readUInt16BE(at + 2));
    if (marker === 0xffdb || marker === 0xffc4) tables.push(segment);
    // APPn segments (JFIF) repeat what the TIFF tags say.
    else if (marker < 0xffe0 || marker > 0xffef) rest.push(segment);
    at += segment.length;
  }
  return {
    tables: Buffer.concat([startOfImage, ...tables, endOfImage]),
    tile: Buffer.concat([startOfImage, ...rest, jpeg.subarray(at)]),
  };
}
