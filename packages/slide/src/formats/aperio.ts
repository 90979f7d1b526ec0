/**
 * Aperio ScanScope and GT 450 slides (.svs): TIFF whose descriptions begin with "Aperio".
 *
 * docs/formats/aperio.md says what is read, and where each fact is from.
 */
import { type AssociatedImageName, SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { type ImageGeometry, readGeometry, readSampleLayout } from '../tiff/image-layout.ts';
import { jpegColourOf, readJpegStrips } from '../tiff/jpeg-streams.ts';
import { openPyramid, type TiledPicture } from '../tiff/pyramid.ts';
import { tag } from '../tiff/tags.ts';

interface AssociatedPicture {
  readonly directory: TiffDirectory;
  readonly geometry: ImageGeometry;
}

const DESCRIPTION_BYTES = 64 * 1024;

export const aperio: SlideFormat = {
  name: 'aperio',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is no TIFF';
    return description.startsWith('Aperio') ? null : 'its description does not begin with "Aperio"';
  },

  async open(files, { tiff }) {
    const levels: TiledPicture[] = [];
    const associated = new Map<AssociatedImageName, AssociatedPicture>();
    for (const directory of (await tiff?.directories()) ?? []) {
      const geometry = await readGeometry(directory);
      const { width, height, tiles } = geometry;
      const name = await associatedName(directory, tiles !== null);
      if (tiles && name === null) levels.push({ directory, width, height, tiles });
      else if (name !== null && !associated.has(name)) associated.set(name, { directory, geometry });
    }

    const { leading } = files;
    const pyramid = await openPyramid(leading, levels);
    const description = (await pyramid.full.directory.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '';
    const mpp = readProperty(description, 'MPP');
    return {
      format: 'aperio',
      fingerprint: leading.fingerprint,
      vendor: 'Aperio',
      levels: pyramid.levels,
      mpp: mpp === null ? null : { x: mpp, y: mpp },
      objectivePower: readProperty(description, 'AppMag'),
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const picture = associated.get(name);
        if (!picture) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        const colour = jpegColourOf(await readSampleLayout(picture.directory));
        return readJpegStrips(leading, picture.directory, picture.geometry, colour);
      },
      close: files.close,
    };
  },
};

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
 * A number out of the description's `|name = value` pairs; scanners set to some languages write `20,0`.
 *
 * @returns null when it is missing, or no number above 0 that a microscope could have
 */
function readProperty(description: string, name: 'MPP' | 'AppMag'): number | null {
  const [, text] = new RegExp(`\\|\\s*${name}\\s*=([^|]*)`).exec(description) ?? [];
  const value = Number(text?.trim().replace(',', '.') || Number.NaN);
  return value > 0 && value < 1000 ? value : null;
}
