/**
 * TIFF of no particular maker, classic or BigTIFF, in tiles or in strips: the pyramid stands in the directories that
 * follow the first, or in its SubIFDs; without one, all smaller sizes are made.
 *
 * docs/formats/tiff.md says what is read, and where each fact is from.
 */
import { SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readPicture } from '../tiff/picture.ts';
import { readResolution } from '../tiff/resolution.ts';
import { openShownPyramid } from '../tiff/shown-pyramid.ts';
import { isMask, isReduced } from '../tiff/subfile-type.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';

export const genericTiff: SlideFormat = {
  name: 'tiff',

  mismatch({ tiff }) {
    if (!tiff) return 'the file is no TIFF';
    return tiff.first.count(tag.ImageWidth) > 0 ? null : 'its first directory has no picture';
  },

  async open(files, { tiff }) {
    const directories = tiff ? await pyramidDirectories(tiff) : [];
    const pyramid = await openShownPyramid(files.leading, await Promise.all(directories.map(readPicture)));
    return {
      format: 'tiff',
      fingerprint: files.fingerprint,
      // The Make tag is free text, which may name more than a maker.
      vendor: null,
      levels: pyramid.levels,
      mpp: await readResolution(pyramid.full.directory),
      objectivePower: null,
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: pyramid.readIccProfile,
      close: files.close,
    };
  },
};

/**
 * The picture itself, and what claims to be the same picture made smaller: by NewSubfileType in the main chain,
 * where a label or another page may stand too, by its place under the picture's own directory.
 */
async function pyramidDirectories(tiff: TiffFile): Promise<TiffDirectory[]> {
  const reduced: TiffDirectory[] = [];
  let main: TiffDirectory | null = null;
  for (const directory of await tiff.directories()) {
    if (await isMask(directory)) continue;
    if (await isReduced(directory)) reduced.push(directory);
    else main ??= directory;
  }
  if (main === null) return reduced;
  const below: TiffDirectory[] = [];
  for (const directory of await tiff.subDirectories(main)) {
    if (!(await isMask(directory))) below.push(directory);
  }
  return [main, ...reduced, ...below];
}
