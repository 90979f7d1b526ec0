/** Encodes tiles as JPEG and splits each stream into tables and image data, as TIFF stores them. */
import sharp from 'sharp';
import { TILE_SIZE } from './pyramid-plan.ts';

/** JPEG quality of the tiles, 1…100. */
export const QUALITY = 78;

/** A JPEG stream split as TIFF stores it: the tables once per level, the rest per tile. */
export interface SplitJpeg {
  /** Start of image (SOI), quantisation and Huffman tables, end of image (EOI). */
  readonly tables: Buffer;
  /** SOI, frame header, scan, EOI. */
  readonly tile: Buffer;
}

/** Encodes a tile. @param pixels red, green and blue, row by row, 512 × 512 */
export async function encodeTile(pixels: Uint8Array): Promise<SplitJpeg> {
  const jpeg = await sharp(pixels, { raw: { width: TILE_SIZE, height: TILE_SIZE, channels: 3 } })
    // Optimised Huffman tables would differ from tile to tile and could not be shared.
    .jpeg({ quality: QUALITY, chromaSubsampling: '4:2:0', optimiseCoding: false })
    .toBuffer();
  return splitJpeg(jpeg);
}

// Markers of ITU-T T.81, table B.1.
const HUFFMAN_TABLES = 0xffc4;
const START_OF_SCAN = 0xffda;
const QUANTISATION_TABLES = 0xffdb;
const FIRST_APPLICATION = 0xffe0;
const LAST_APPLICATION = 0xffef;

/** Separates the segments that contain tables from the other segments and the scan. */
function splitJpeg(jpeg: Buffer): SplitJpeg {
  const [startOfImage, endOfImage] = [jpeg.subarray(0, 2), jpeg.subarray(-2)];
  const tables: Buffer[] = [];
  const otherSegments: Buffer[] = [];
  let offset = 2;
  for (;;) {
    const marker = jpeg.readUInt16BE(offset);
    if (marker === START_OF_SCAN) break;
    const lengthAfterMarker = jpeg.readUInt16BE(offset + 2);
    const segment = jpeg.subarray(offset, offset + 2 + lengthAfterMarker);
    if (marker === QUANTISATION_TABLES || marker === HUFFMAN_TABLES) tables.push(segment);
    // Application segments (JFIF) are dropped, because the TIFF tags contain the same facts.
    else if (marker < FIRST_APPLICATION || marker > LAST_APPLICATION) otherSegments.push(segment);
    offset += segment.length;
  }
  return {
    tables: Buffer.concat([startOfImage, ...tables, endOfImage]),
    tile: Buffer.concat([startOfImage, ...otherSegments, jpeg.subarray(offset)]),
  };
}
