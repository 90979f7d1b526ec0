/**
 * Reader of Aperio ScanScope and GT 450 slides (.svs): TIFF whose ImageDescription begins with "Aperio".
 *
 * docs/formats/aperio.md lists the features that are read, with the source of each fact.
 */
import { type AssociatedImageName, type Slide, SlideError } from '../model/slide.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { openDisplayPyramid } from '../tiff/display-pyramid.ts';
import { tag } from '../tiff/tags.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import type { SlideFormat } from './slide-format.ts';

/** Maximum number of bytes to read from an ImageDescription. */
const DESCRIPTION_BYTES = 64 * 1024;

export const aperio: SlideFormat = {
  name: 'aperio',

  mismatchReason({ tiff, description }) {
    if (!tiff) return 'the file is not TIFF';
    return description.startsWith('Aperio') ? null : 'its description does not begin with "Aperio"';
  },

  async open(files, { tiff }) {
    const levels: TiffImage[] = [];
    const associated = new Map<AssociatedImageName, TiffImage>();
    for (const directory of (await tiff?.directories()) ?? []) {
      const tiffImage = await readTiffImage(directory);
      const isTiled = tiffImage.tiles !== null;
      const name = await associatedName(directory, isTiled);
      if (name === null) levels.push(tiffImage);
      else if (!associated.has(name)) associated.set(name, tiffImage);
    }

    const { main } = files;
    const pyramid = await openDisplayPyramid(main, levels);
    const description = (await pyramid.full.directory.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '';
    const mpp = readProperty(description, 'MPP');
    return {
      format: 'aperio',
      fingerprint: files.fingerprint,
      vendor: 'Aperio',
      levels: markGaps(pyramid.levels),
      mpp: mpp === null ? null : { x: mpp, y: mpp },
      objectivePower: readProperty(description, 'AppMag'),
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const tiffImage = associated.get(name);
        if (!tiffImage) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholeImage(main, tiffImage);
      },
      readIccProfile: pyramid.readIccProfile,
      close: files.close,
    };
  },
};

/**
 * Sets `hasGaps` on all levels but the largest. Scanners sometimes omit tiles of smaller levels by mistake; `hasGaps` makes
 * the renderer draw an omitted tile from a larger level. At full resolution, an empty tile is an unscanned area.
 */
function markGaps([full, ...smaller]: Slide['levels']): Slide['levels'] {
  return [full, ...smaller.map((level) => ({ ...level, hasGaps: true as const }))];
}

/**
 * Returns the associated image (label, macro or thumbnail) that a directory contains; null when it is a level.
 *
 * The second line of a label's or macro's description begins with "label" or "macro". If a de-identification program has
 * removed the description, NewSubfileType still identifies the image. 9 is the macro; 1 is a smaller level if the image
 * is tiled, and the label if it is in strips. Any other image in strips is the thumbnail.
 */
async function associatedName(
  directory: TiffDirectory,
  isTiled: boolean,
): Promise<AssociatedImageName | null> {
  const description = (await directory.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '';
  // Matches e.g. `Aperio Image Library v11.2.1\r\nlabel 387x463`.
  const [, word] = /^[^\r\n]*[\r\n]\s*(label|macro)\b/i.exec(description) ?? [];
  const name = word?.toLowerCase();
  if (name === 'label' || name === 'macro') return name;
  const subfileType = await directory.number(tag.NewSubfileType);
  if (subfileType === 9) return 'macro';
  if (isTiled) return null;
  return subfileType === 1 ? 'label' : 'thumbnail';
}

/**
 * Reads a number from the `|name = value` pairs of the description: MPP (micrometres per pixel), or AppMag (the
 * objective power). Besides `20`, it accepts `20,0`, which scanners with some language settings write, and `20X`.
 *
 * @returns null when the number is missing or not between 0 and 1000
 */
function readProperty(description: string, name: 'MPP' | 'AppMag'): number | null {
  const [, text] = new RegExp(`\\|\\s*${name}\\s*=([^|]*)`).exec(description) ?? [];
  const numberText = text?.trim().replace(/x$/i, '').replace(',', '.');
  const value = Number(numberText); // `Number` ignores the space in "20 X", and returns 0 for an empty text
  return value > 0 && value < 1000 ? value : null;
}
