/** Reader of small TIFF images, such as labels, as a whole. */
import { joinScans } from '../jpeg/join-scans.ts';
import { type EncodedImage, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createBlockReader } from './block-reader.ts';
import { blockTags, checkBlockTable } from './block-table.ts';
import { readImageCoding } from './image-coding.ts';
import { readRowsPerStrip } from './image-layout.ts';
import { limits } from './limits.ts';
import type { TiffImage } from './tiff-image.ts';

/**
 * Reads a small image in strips, and joins the strips into one encoded image without decoding them.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED for an image in tiles, or in strips that cannot be joined; LIMIT_EXCEEDED, FILE_CORRUPT,
 *   FILE_TRUNCATED
 */
export async function readWholeImage(source: ByteSource, tiffImage: TiffImage): Promise<EncodedImage> {
  const { directory, width, height } = tiffImage;
  if (tiffImage.tiles)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: an associated image in tiles');
  if (width * height > limits.blockPixels) {
    throw new SlideError('LIMIT_EXCEEDED', `An associated image has ${width} × ${height} pixels`);
  }
  const coding = await readImageCoding(directory);
  const blockRows = await readRowsPerStrip(directory, tiffImage);
  const strips = Math.ceil(height / blockRows);
  const planes = coding.codec === 'tiff' && coding.samples.isPlanar ? coding.samples.samplesPerPixel : 1;
  checkBlockTable(directory, blockTags.strips, strips * planes);
  const readBlocks = createBlockReader(source, directory, coding, blockTags.strips, strips);
  const readStrips = async (first: number, count: number, rows: number) => {
    const filled = { filledWidth: width, filledHeight: rows }; // the whole area: strips have no padding
    const image = await readBlocks({ first, count, width, height: rows, blockRows, ...filled });
    if (!image) throw new SlideError('FILE_CORRUPT', `Strip ${first} is empty`);
    return image;
  };
  // Only an image of the codec `tiff` (samples that no image format wraps) can contain several strips. JPEG strips are
  // joined below.
  if (coding.codec === 'tiff') return readStrips(0, strips, height);

  const images: EncodedImage[] = [];
  for (let i = 0; i < strips; i++) {
    const rows = Math.min(blockRows, height - i * blockRows);
    images.push(await readStrips(i, 1, rows));
  }
  const [only] = images;
  if (only && images.length === 1) return only;
  const bytes = coding.codec === 'jpeg' ? joinScans(images.map((image) => image.bytes)) : null;
  if (!bytes) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: strips that cannot be joined');
  return { codec: 'jpeg', bytes, width, height };
}
