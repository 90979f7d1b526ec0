/**
 * Reads Olympus and Evident slides (.vsi): metadata in the .vsi file, pixels in `_name_/stack…/frame_t….ets`.
 *
 * docs/formats/vsi.md lists what is read, with the source of each fact.
 */
import { decodeImage } from '../decode/decode-image.ts';
import { type AssociatedImageName, type EncodedImage, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import { incomplete, limitExceeded, notSupported } from '../vsi/errors.ts';
import { readEtsFile } from '../vsi/ets-file.ts';
import { type EtsPyramid, openEtsPyramid } from '../vsi/ets-pyramid.ts';
import { limits } from '../vsi/limits.ts';
import { readStacks, type Stack } from '../vsi/stacks.ts';
import { isVsi } from '../vsi/tag-tree.ts';
import type { SlideFormat } from './slide-format.ts';

/** Names that the file in a stack's folder may have; each folder holds one. */
const ETS_NAMES = ['frame_t.ets', 'frame_t_0.ets'] as const;

export const vsi: SlideFormat = {
  name: 'vsi',

  mismatch({ start }) {
    return isVsi(start) ? null : 'no tag tree follows its TIFF header';
  },

  async open(files) {
    const stacks = await readStacks(files.leading);
    const external = stacks.filter(({ isExternal }) => isExternal);
    const slide = largest(external.filter(({ kind }) => kind === 'slide'));
    if (!slide) throw notSupported('an image in the .vsi file itself');
    const pyramid = await openStack(files, slide);
    const associated = new Map<AssociatedImageName, Stack>();
    for (const stack of external) {
      const name = associatedNames[stack.kind];
      if (name && !associated.has(name)) associated.set(name, stack);
    }
    return {
      format: 'vsi',
      fingerprint: files.fingerprint,
      vendor: 'Olympus',
      levels: pyramid.levels,
      mpp: slide.mpp,
      objectivePower: slide.objectivePower,
      ...(pyramid.shownPlane !== undefined && { shownPlane: pyramid.shownPlane }),
      background: pyramid.background,
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const stack = associated.get(name);
        if (!stack) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWhole(await openStack(files, stack));
      },
      readIccProfile: async () => null,
      close: files.close,
    };
  },

  group: groupFiles,
};

const associatedNames: Readonly<Record<Stack['kind'], AssociatedImageName | null>> = {
  slide: null,
  overview: 'macro',
  macro: 'macro',
  label: 'label',
  other: null,
};

/** Returns the largest of the scanned areas, which is the one displayed. */
function largest(stacks: readonly Stack[]): Stack | null {
  const area = ({ size }: Stack) => (size ? size.width * size.height : 0);
  return stacks.toSorted((one, other) => area(other) - area(one) || one.number - other.number)[0] ?? null;
}

async function openStack(files: SlideFiles, stack: Stack): Promise<EtsPyramid> {
  const source = await openEts(files, stack);
  return openEtsPyramid(source, await readEtsFile(source), stack);
}

/** @throws SlideError FILE_TRUNCATED when the file is missing */
async function openEts(files: SlideFiles, { number }: Stack): Promise<ByteSource> {
  for (const name of ETS_NAMES) {
    try {
      return await files.open(`${folderOf(files.name)}/stack${number}/${name}`);
    } catch (error) {
      if (!(error instanceof SlideError) || error.code !== 'FILE_MISSING') throw error;
    }
  }
  throw incomplete('the .ets file with its pixels is missing from the folder beside it');
}

function folderOf(name: string): string {
  return `_${name.replace(/\.[^.]*$/, '')}_`;
}

/** Reads an associated image at the largest resolution within the limit. */
async function readWhole({ levels, readTile, background }: EtsPyramid): Promise<EncodedImage> {
  const index = levels.findIndex(({ width, height }) => width * height <= limits.associatedPixels);
  const level = levels[index];
  if (!level) throw limitExceeded('an associated image is too large at every resolution');
  const { width, height, tileWidth, tileHeight } = level;
  const bytes = new Uint8Array(width * height * 3);
  for (let at = 0; at < bytes.length; at += 3) bytes.set([background.r, background.g, background.b], at);
  for (let row = 0; row < level.rows; row++) {
    for (let column = 0; column < level.columns; column++) {
      const tile = await readTile({ level: index, column, row });
      if (!tile) continue;
      const { rgb } = await decodeImage(tile);
      const [x, y] = [column * tileWidth, row * tileHeight];
      const copiedWidth = Math.min(tileWidth, width - x);
      for (let line = 0; line < Math.min(tileHeight, height - y); line++) {
        const from = line * tileWidth * 3;
        bytes.set(rgb.subarray(from, from + copiedWidth * 3), ((y + line) * width + x) * 3);
      }
    }
  }
  return { codec: 'rgb', bytes, width, height };
}

async function groupFiles({ names, folders }: SlideFolder): Promise<readonly SlideGroup[]> {
  return names.flatMap((leading) => {
    if (!/\.vsi$/i.test(leading)) return [];
    const folder = folderOf(leading);
    return [{ leading, members: folders.includes(folder) ? [`${folder}/`] : [] }];
  });
}
