/**
 * Reader of Olympus and Evident slides (.vsi). The file `name.vsi` holds the metadata. The pixels of its images ("stacks") are in
 * the files `_name_/stack…/frame_t….ets` of the same folder.
 *
 * docs/formats/vsi.md lists the features that are read, with the source of each fact.
 */
import { decodeImage } from '../decode/decode-image.ts';
import { type AssociatedImageName, type EncodedImage, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import { incompleteError, limitExceededError, notSupportedError } from '../vsi/errors.ts';
import { readEtsFile } from '../vsi/ets-file.ts';
import { type EtsPyramid, openEtsPyramid } from '../vsi/ets-pyramid.ts';
import { limits } from '../vsi/limits.ts';
import { readStacks, type Stack } from '../vsi/stacks.ts';
import { isVsi } from '../vsi/tag-tree.ts';
import type { SlideFormat } from './slide-format.ts';

/** The two possible names of the file with the pixels in a stack's folder. */
const ETS_NAMES = ['frame_t.ets', 'frame_t_0.ets'] as const;

export const vsi: SlideFormat = {
  name: 'vsi',

  mismatchReason({ start }) {
    return isVsi(start) ? null : 'no tag tree follows its TIFF header';
  },

  async open(files) {
    const stacks = await readStacks(files.main);
    // The pixels of the other stacks are in the .vsi file itself, which is not supported.
    const stacksWithEtsFile = stacks.filter(({ isExternal }) => isExternal);
    // A slide may have several scanned areas; the largest is displayed.
    const slideStack = largestStack(stacksWithEtsFile.filter(({ kind }) => kind === 'slide'));
    if (!slideStack) throw notSupportedError('an image in the .vsi file itself');
    const pyramid = await openStack(files, slideStack);
    const associated = new Map<AssociatedImageName, Stack>();
    for (const stack of stacksWithEtsFile) {
      const name = associatedNames[stack.kind];
      if (name && !associated.has(name)) associated.set(name, stack);
    }
    return {
      format: 'vsi',
      fingerprint: files.fingerprint,
      vendor: 'Olympus',
      levels: pyramid.levels,
      mpp: slideStack.mpp, // micrometres per pixel
      objectivePower: slideStack.objectivePower,
      ...(pyramid.shownPlane !== undefined && { shownPlane: pyramid.shownPlane }),
      background: pyramid.background,
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const stack = associated.get(name);
        if (!stack) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholeImage(await openStack(files, stack));
      },
      readIccProfile: async () => null,
      close: files.close,
    };
  },

  group: groupFiles,
};

/** Associated images by the kind of their stack; null for a stack that is not an associated image. */
const associatedNames: Readonly<Record<Stack['kind'], AssociatedImageName | null>> = {
  slide: null,
  overview: 'macro',
  macro: 'macro',
  label: 'label',
  other: null,
};

/** Returns the stack with the most pixels (of equal ones, that with the lowest number); null if there are no stacks. */
function largestStack(stacks: readonly Stack[]): Stack | null {
  const area = ({ size }: Stack) => (size ? size.width * size.height : 0);
  return stacks.toSorted((a, b) => area(b) - area(a) || a.number - b.number)[0] ?? null;
}

async function openStack(files: SlideFiles, stack: Stack): Promise<EtsPyramid> {
  const source = await openEtsFile(files, stack);
  return openEtsPyramid(source, await readEtsFile(source), stack);
}

/** Opens the file with the pixels of a stack. @throws SlideError FILE_TRUNCATED (the slide is incomplete) when it is missing */
async function openEtsFile(files: SlideFiles, { number }: Stack): Promise<ByteSource> {
  for (const name of ETS_NAMES) {
    try {
      return await files.open(`${folderOf(files.name)}/stack${number}/${name}`);
    } catch (error) {
      if (!(error instanceof SlideError) || error.code !== 'FILE_MISSING') throw error;
    }
  }
  throw incompleteError('the .ets file with its pixels is missing from the folder beside it');
}

/** Returns the name of the folder with the pixels of a .vsi file: `_slide_` for `slide.vsi`. */
function folderOf(name: string): string {
  return `_${name.replace(/\.[^.]*$/, '')}_`;
}

/** Composes an associated image from its tiles, at the largest resolution within `limits.associatedPixels`. */
async function readWholeImage({ levels, readTile, background }: EtsPyramid): Promise<EncodedImage> {
  const index = levels.findIndex(({ width, height }) => width * height <= limits.associatedPixels);
  const level = levels[index];
  if (!level) throw limitExceededError('an associated image is too large at every resolution');
  const { width, height, tileWidth, tileHeight } = level;
  const bytes = new Uint8Array(width * height * 3);
  for (let i = 0; i < bytes.length; i += 3) bytes.set([background.r, background.g, background.b], i);
  for (let row = 0; row < level.rows; row++) {
    for (let column = 0; column < level.columns; column++) {
      const tile = await readTile({ level: index, column, row });
      if (!tile) continue;
      const { rgb } = await decodeImage(tile);
      const x = column * tileWidth;
      const y = row * tileHeight;
      const copiedWidth = Math.min(tileWidth, width - x);
      const copiedHeight = Math.min(tileHeight, height - y);
      for (let rowInTile = 0; rowInTile < copiedHeight; rowInTile++) {
        const start = rowInTile * tileWidth * 3;
        bytes.set(rgb.subarray(start, start + copiedWidth * 3), ((y + rowInTile) * width + x) * 3);
      }
    }
  }
  return { codec: 'rgb', bytes, width, height };
}

/** Finds the slides of a folder: each .vsi file with its folder `_name_`, if that exists. */
async function groupFiles({ names, folders }: SlideFolder): Promise<readonly SlideGroup[]> {
  return names.flatMap((main) => {
    if (!/\.vsi$/i.test(main)) return [];
    const folder = folderOf(main);
    return [{ main, members: folders.includes(folder) ? [`${folder}/`] : [] }];
  });
}
