/** Builds images in another format than their file declares, and images that need far more time or memory than their size suggests. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { tag } from '../tiff/tags.ts';
import { buildTiff, long, short } from './build-tiff.ts';

/**
 * Builds a TIFF with one RGB or YCbCr tile, whose bytes may be of any format.
 *
 * @param compression declared compression: 7 is JPEG (declared as YCbCr), 50001 is WebP (declared as RGB)
 */
export function tiffOfTile(compression: number, tile: Uint8Array, side: number): Uint8Array {
  const tags = {
    [tag.ImageWidth]: long(side),
    [tag.ImageLength]: long(side),
    [tag.BitsPerSample]: short(8, 8, 8),
    [tag.Compression]: short(compression),
    [tag.PhotometricInterpretation]: short(compression === 7 ? 6 : 2), // YCbCr or RGB
    [tag.SamplesPerPixel]: short(3),
    [tag.PlanarConfiguration]: short(1), // interleaved samples
    [tag.TileWidth]: short(side),
    [tag.TileLength]: short(side),
  };
  return buildTiff({ directories: [{ tags, tiles: [tile] }] }).bytes;
}

/**
 * Builds an SVG of `side` × `side` pixels that contains a black PNG of `pngSide` × `pngSide` pixels. The SVG is small, because
 * the PNG compresses well, but its decoder needs `pngSide`² × 4 bytes of memory.
 */
export function expensiveSvg(side: number, pngSide: number): Buffer {
  const png = blackPng(pngSide).toString('base64');
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">` +
      `<image width="${side}" height="${side}" href="data:image/png;base64,${png}"/></svg>`,
  );
}

/** Builds a black PNG of one bit per pixel, which compresses to few bytes. */
export function blackPng(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([1, 0, 0, 0, 0], 8); // one bit, grey, standard compression and filters, no interlacing
  const rows = Buffer.alloc((1 + Math.ceil(side / 8)) * side); // the first byte of a row is its filter type, 0: none
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(body.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  bytes.set(body, 4);
  bytes.writeUInt32BE(crc32(body), body.length + 4);
  return bytes;
}

/** Builds a progressive JPEG with `count` copies of its last scan added; decoders process the whole image per scan. */
export async function manyScans(side: number, count: number): Promise<Uint8Array> {
  const jpeg = await sharp({ create: { width: side, height: side, channels: 3, background: '#a86' } })
    .jpeg({ progressive: true })
    .toBuffer();
  const startOfScan = Buffer.from([0xff, 0xda]); // the marker SOS
  const lastScan = jpeg.subarray(jpeg.lastIndexOf(startOfScan), jpeg.length - 2);
  const endOfImage = jpeg.subarray(-2);
  return Buffer.concat([jpeg.subarray(0, -2), ...Array.from({ length: count }, () => lastScan), endOfImage]);
}
