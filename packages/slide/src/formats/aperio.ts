/**
 * Aperio ScanScope and GT 450 slides (.svs): TIFF whose descriptions begin with "Aperio".
 *
 * docs/formats/aperio.md says what is read, and where each fact is from.
 */
import { type AssociatedImageName, type Slide, SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openShownPyramid } from '../tiff/shown-pyramid.ts';
import { tag } from '../tiff/tags.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';

const DESCRIPTION_BYTES = 64 * 1024;

export const aperio: SlideFormat = {
  name: 'aperio',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is no TIFF';
    return description.startsWith('Aperio') ? null : 'its description does not begin with "Aperio"';
  },

  async open(files, { tiff }) {
    const levels: TiffPicture[] = [];
    const associated = new Map<AssociatedImageName, TiffPicture>();
    for (const directory of (await tiff?.directories()) ?? []) {
      const picture = await readPicture(directory);
      const name = await associatedName(directory, picture.tiles !== null);
      if (name === null) levels.push(picture);
      else if (!associated.has(name)) associated.set(name, picture);
    }

    const { leading } = files;
    const pyramid = await openShownPyramid(leading, levels);
    const description = (await pyramid.full.directory.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '';
    const mpp = readProperty(description, 'MPP');
    return {
      format: 'aperio',
      fingerprint: files.fingerprint,
      vendor: 'Aperio',
      levels: withGaps(pyramid.levels),
      mpp: mpp === null ? null : { x: mpp, y: mpp },
      objectivePower: readProperty(description, 'AppMag'),
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const picture = associated.get(name);
        if (!picture) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholePicture(leading, picture);
      },
      readIccProfile: pyramid.readIccProfile,
      close: files.close,
    };
  },
};

/** Scanners lose tiles of smaller levels, by a fault of theirs; what is empty at full resolution was not scanned. */
function withGaps([full, ...smaller]: Slide['levels']): Slide['levels'] {
  return [full, ...smaller.map((level) => ({ ...level, hasGaps: true as const }))];
}

/**
 * What a picture is besides a level: the second line of its description begins with "label" or "macro"; where
 * somebody has blanked it, NewSubfileType still says 1 (label) or 9 (macro). Without either, a picture in strips
 * is the thumbnail.
 *
 * @returns null for a level
 */
async function associatedName(
  directory: TiffDirectory,
  isTiled: boolean,
): Promise<AssociatedImageName | null> {
  const description = (await directory.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '';
  const [, name] = /^[^\r\n]*[\r\n]\s*(label|macro)\b/i.exec(description) ?? [];
  const named = name?.toLowerCase();
  if (named === 'label' || named === 'macro') return named;
  const subfileType = await directory.number(tag.NewSubfileType);
  if (subfileType === 9) return 'macro';
  if (isTiled) return null;
  return subfileType === 1 ? 'label' : 'thumbnail';
}

/**
 * A number out of the description's `|name = value` pairs; scanners set to some languages write `20,0`, other
 * programs `20X`.
 *
 * @returns null when it is missing, or no number above 0 that a microscope could have
 */
function readProperty(description: string, name: 'MPP' | 'AppMag'): number | null {
  const [, text] = new RegExp(`\\|\\s*${name}\\s*=([^|]*)`).exec(description) ?? [];
  const number = text?.trim().replace(/\s*x$/i, '').replace(',', '.');
  const value = Number(number || Number.NaN);
  return value > 0 && value < 1000 ? value : null;
}
