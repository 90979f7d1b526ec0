import { joinScans } from '../jpeg/join-scans.ts';
import { type EncodedImage, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { blockReader } from './block-reader.ts';
import { blockTags, checkBlockTable } from './block-table.ts';
import { readRowsPerStrip } from './image-layout.ts';
import { limits } from './limits.ts';
import type { TiffPicture } from './picture.ts';
import { readPictureCoding } from './picture-coding.ts';

/**
 * A small picture that is cut into strips, all of it, put together without decoding it.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED when it cannot be put together, LIMIT_EXCEEDED, FILE_CORRUPT, FILE_TRUNCATED
 */
export async function readWholePicture(source: ByteSource, picture: TiffPicture): Promise<EncodedImage> {
  const { directory, width, height } = picture;
  if (picture.tiles)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: a picture beside the slide in tiles');
  if (width * height > limits.blockPixels) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture beside the slide has ${width} × ${height} pixels`);
  }
  const coding = await readPictureCoding(directory);
  const blockRows = await readRowsPerStrip(directory, picture);
  const strips = Math.ceil(height / blockRows);
  const planes = coding.codec === 'tiff' && coding.samples.isPlanar ? coding.samples.samplesPerPixel : 1;
  checkBlockTable(directory, blockTags.strips, strips * planes);
  const readBlocks = blockReader(source, directory, coding, blockTags.strips, strips);
  const read = async (first: number, count: number, rows: number) => {
    const filled = { filledWidth: width, filledHeight: rows };
    const image = await readBlocks({ first, count, width, height: rows, blockRows, ...filled });
    if (!image) throw new SlideError('FILE_CORRUPT', `Strip ${first} is empty`);
    return image;
  };
  if (coding.codec === 'tiff') return read(0, strips, height);

  const images: EncodedImage[] = [];
  for (let i = 0; i < strips; i++) images.push(await read(i, 1, Math.min(blockRows, height - i * blockRows)));
  const [only] = images;
  if (only && images.length === 1) return only;
  const bytes = coding.codec === 'jpeg' ? joinScans(images.map((image) => image.bytes)) : null;
  if (!bytes) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: strips that do not make one picture');
  return { codec: 'jpeg', bytes, width, height };
}
