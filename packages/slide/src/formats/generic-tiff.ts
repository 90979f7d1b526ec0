/**
 * Reader of TIFF that no vendor's reader recognises, classic or BigTIFF, in tiles or strips. Smaller levels are in the
 * directories after the first, or in its SubIFDs. The renderer draws sizes that the file does not contain.
 *
 * docs/formats/tiff.md lists the features that are read, with the source of each fact.
 */
import { SlideError } from '../model/slide.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { openDisplayPyramid } from '../tiff/display-pyramid.ts';
import { readResolution, uprightMpp } from '../tiff/resolution.ts';
import { isMask, isReduced } from '../tiff/subfile-type.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';
import type { SlideFormat } from './slide-format.ts';

export const genericTiff: SlideFormat = {
  name: 'tiff',

  mismatchReason({ tiff }) {
    if (!tiff) return 'the file is not TIFF';
    return tiff.first.count(tag.ImageWidth) > 0 ? null : 'its first directory has no image';
  },

  async open(files, { tiff }) {
    const directories = tiff ? await pyramidDirectories(tiff) : [];
    const pyramid = await openDisplayPyramid(files.main, await Promise.all(directories.map(readTiffImage)));
    const { directory, orientation } = pyramid.full;
    return {
      format: 'tiff',
      fingerprint: files.fingerprint,
      // The Make tag is free text and may contain more than a vendor name.
      vendor: null,
      levels: pyramid.levels,
      // Micrometres per pixel; `uprightMpp` exchanges x and y if the image is stored on its side.
      mpp: uprightMpp(await readResolution(directory), orientation),
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
 * Returns the directories of the pyramid. The main chain is the linked list of directories that begins in the TIFF header.
 * - The image of full resolution is the first directory of the chain that is neither a mask nor marked as reduced.
 * - Its smaller levels are all its SubIFDs (directories outside the chain), and all directories of the chain that
 *   NewSubfileType marks as reduced.
 * - Other directories of the chain are ignored, because they may be a label or another page.
 */
async function pyramidDirectories(tiff: TiffFile): Promise<TiffDirectory[]> {
  const reduced: TiffDirectory[] = [];
  let main: TiffDirectory | null = null;
  for (const directory of await tiff.directories()) {
    if (await isMask(directory)) continue;
    if (await isReduced(directory)) reduced.push(directory);
    else main ??= directory;
  }
  // If every directory is marked as reduced, openDisplayPyramid takes the largest one as full resolution.
  if (main === null) return reduced;
  const subDirectories: TiffDirectory[] = [];
  for (const directory of await tiff.subDirectories(main)) {
    if (!(await isMask(directory))) subDirectories.push(directory);
  }
  return [main, ...reduced, ...subDirectories];
}
