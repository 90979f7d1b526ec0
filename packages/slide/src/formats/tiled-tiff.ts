/**
 * Tiled TIFF of no particular maker, classic or BigTIFF: the pyramid stands in the directories that follow the
 * first, or in its SubIFDs.
 *
 * docs/formats/tiff.md says what is read, and where each fact is from.
 */
import { SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readGeometry } from '../tiff/image-layout.ts';
import { openPyramid, type TiledPicture } from '../tiff/pyramid.ts';
import { readResolution } from '../tiff/resolution.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';

export const tiledTiff: SlideFormat = {
  name: 'tiff',

  mismatch({ tiff }) {
    if (!tiff) return 'the file is no TIFF';
    return tiff.first.count(tag.TileWidth) > 0 ? null : 'its first picture is not cut into tiles';
  },

  async open(files, { tiff }) {
    const { leading } = files;
    const pictures: TiledPicture[] = [];
    for (const directory of tiff ? await pyramidDirectories(tiff) : []) {
      const { width, height, tiles } = await readGeometry(directory);
      if (tiles) pictures.push({ directory, width, height, tiles });
    }
    const pyramid = await openPyramid(leading, pictures);
    return {
      format: 'tiff',
      fingerprint: leading.fingerprint,
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
      close: files.close,
    };
  },
};

/** Bits of NewSubfileType. Source: TIFF 6.0, section 8. */
const REDUCED = 1;
const MASK = 4;

/**
 * The first directory and those that claim to be the same picture made smaller: by NewSubfileType in the main
 * chain, where a label may stand too, by their place under the first directory.
 */
async function pyramidDirectories(tiff: TiffFile): Promise<TiffDirectory[]> {
  const chosen = [tiff.first];
  for (const directory of await tiff.directories()) {
    const subfileType = (await directory.number(tag.NewSubfileType)) ?? 0;
    const isReduced = (subfileType & (REDUCED | MASK)) === REDUCED;
    if (directory !== tiff.first && isReduced) chosen.push(directory);
  }
  for (const directory of await tiff.subDirectories(tiff.first)) {
    const subfileType = (await directory.number(tag.NewSubfileType)) ?? 0;
    if ((subfileType & MASK) === 0) chosen.push(directory);
  }
  return chosen;
}
