/** The images ("stacks") of a VSI slide, and their metadata, from the tag tree of the .vsi file. */
import type { Colour } from '../decode/raster.ts';
import type { GreyRange } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { limitExceededError } from './errors.ts';
import { limits } from './limits.ts';
import { type Leaf, readLeaves, type Step } from './tag-tree.ts';

/** One image of a VSI slide: the slide itself or an associated image. Its pixels are in `stack<number>/`. */
export interface Stack {
  readonly number: number;
  readonly kind: 'slide' | 'overview' | 'macro' | 'label' | 'other';
  /** Pixels; null when the file does not state them. */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** Micrometres per pixel; null when unknown. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  /** Magnification of the objective; null when unknown. */
  readonly objectivePower: number | null;
  /** Whether its pixels are in a separate .ets file; otherwise they are in the .vsi file. */
  readonly isExternal: boolean;
  /** Index of the channel among a tile's coordinates after column and row; null with a single channel. */
  readonly channelDimension: number | null;
  /** Index of the focal plane among the same coordinates; null with a single focal plane. */
  readonly focusDimension: number | null;
  /** Display settings by channel number. */
  readonly channels: ReadonlyMap<number, ChannelDisplay>;
}

/** Display settings of a channel; null where the file states none. */
export interface ChannelDisplay {
  readonly colour: Colour | null;
  readonly range: GreyRange | null;
}

/** Numbers of the tags on the paths to the values that are read. Some mean something else under another parent. Source: SlideIO, vsitags. */
export const vsiTag = {
  collection: 2000,
  stack: 2001,
  frame: 2002,
  displayLimits: 2003,
  colourTable: 2004,
  stackProperties: 2005,
  dimension: 2007,
  channelProperties: 2008,
  externalFile: 2018,
  frameScale: 2019,
  frameUnit: 2020,
  dimensionMeaning: 2023,
  stackName: 2030,
  opticalPath: 2043,
  imageBoundary: 2053,
  stackType: 2074,
  hasExternalFile: 20005,
  magnification: 120060,
  tableElements: 268435458,
} as const;

/** Tags of the fields whose values are read; the other tags are steps on the paths to these fields. */
const valueTags: ReadonlySet<number> = new Set([
  vsiTag.displayLimits,
  vsiTag.frameScale,
  vsiTag.frameUnit,
  vsiTag.dimensionMeaning,
  vsiTag.stackName,
  vsiTag.imageBoundary,
  vsiTag.stackType,
  vsiTag.hasExternalFile,
  vsiTag.magnification,
  vsiTag.tableElements,
]);

/** Kinds of images by their stack type. Source: SlideIO, StackType. */
const kinds: Readonly<Record<number, Stack['kind']>> = { 0: 'slide', 1: 'overview', 256: 'macro' };
/** Meanings of a dimension. Source: SlideIO, vsistruct. */
const dimensionMeaning = { focus: 1, channel: 4 } as const;
/** Field type of a colour table; each colour is stored as blue, green, red. */
const BGR_TABLE_TYPE = 270;
/** The only unit of pixel sizes found in real files; a size in another unit is ignored. */
const MICROMETRES = '10^-6m^1';
/** A pixel size (µm) or magnification of this value or more is implausible and ignored. */
const IMPLAUSIBLE_FROM = 1000;

/** Reads all images that the .vsi file lists. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED */
export async function readStacks(source: ByteSource): Promise<readonly Stack[]> {
  const leavesByStack = new Map<number, Leaf[]>();
  for (const { path, ...leaf } of await readLeaves(source, valueTags)) {
    const [collection, stack, ...pathInStack] = path;
    if (collection?.tag !== vsiTag.collection || stack?.tag !== vsiTag.stack) continue;
    const number = stack.index ?? 0;
    const leaves = leavesByStack.get(number) ?? [];
    leaves.push({ path: pathInStack, ...leaf });
    leavesByStack.set(number, leaves);
    if (leavesByStack.size > limits.stacks)
      throw limitExceededError(`it has more than ${limits.stacks} images`);
  }
  return [...leavesByStack].map(([number, leaves]) => stackOf(number, leaves));
}

/** Builds the description of a stack. @param leaves the values of the stack, with paths relative to it */
function stackOf(number: number, leaves: readonly Leaf[]): Stack {
  const firstLeafAt = (...tags: readonly number[]) => leaves.find(({ path }) => hasTags(path, tags)) ?? null;
  const properties = vsiTag.stackProperties;
  const externalFile = [vsiTag.frame, vsiTag.externalFile] as const;
  const [_left, _top, width = 0, height = 0] = readInt32s(firstLeafAt(...externalFile, vsiTag.imageBoundary));
  const dimensionMeanings = leaves.filter(({ path }) =>
    hasTags(path, [vsiTag.dimension, vsiTag.channelProperties, vsiTag.dimensionMeaning]),
  );
  const dimensionWithMeaning = (meaning: number) =>
    dimensionMeanings.find((leaf) => readInt32s(leaf)[0] === meaning)?.path[0]?.index ?? null;
  const channelDimension = dimensionWithMeaning(dimensionMeaning.channel);
  return {
    number,
    kind: readKind(firstLeafAt(properties, vsiTag.stackName), firstLeafAt(properties, vsiTag.stackType)),
    size: width > 0 && height > 0 ? { width, height } : null,
    mpp: readMpp(firstLeafAt(properties, vsiTag.frameScale), firstLeafAt(properties, vsiTag.frameUnit)),
    objectivePower: readObjectivePower(leaves),
    isExternal: readInt32s(firstLeafAt(...externalFile, vsiTag.hasExternalFile))[0] === 1,
    channelDimension,
    focusDimension: dimensionWithMeaning(dimensionMeaning.focus),
    channels: channelDimension === null ? new Map() : readChannels(leaves, channelDimension),
  };
}

/** Returns whether the steps of a path have exactly these tags, in this order. */
function hasTags(path: readonly Step[], tags: readonly number[]): boolean {
  return path.length === tags.length && tags.every((expected, i) => path[i]?.tag === expected);
}

/** Returns the kind of a stack: `label` if it has this name, otherwise the kind of its stack type; `slide` without a type. */
function readKind(name: Leaf | null, type: Leaf | null): Stack['kind'] {
  if (readText(name).trim().toLowerCase() === 'label') return 'label';
  const [typeNumber] = readInt32s(type);
  return typeNumber === undefined ? 'slide' : (kinds[typeNumber] ?? 'other');
}

function readMpp(scale: Leaf | null, unit: Leaf | null): Stack['mpp'] {
  const [x = 0, y = 0] = readDoubles(scale);
  const isInMicrometres = readText(unit).trim() === MICROMETRES;
  const isPlausible = x > 0 && y > 0 && x < IMPLAUSIBLE_FROM && y < IMPLAUSIBLE_FROM;
  return isInMicrometres && isPlausible ? { x, y } : null;
}

/** Reads the magnification of the objective. Its field may be at any depth below the optical path in the tree. */
function readObjectivePower(leaves: readonly Leaf[]): number | null {
  const objective = leaves.find(
    ({ path }) =>
      path[0]?.tag === vsiTag.stackProperties &&
      path[1]?.tag === vsiTag.opticalPath &&
      path.at(-1)?.tag === vsiTag.magnification,
  );
  const [power = 0] = readDoubles(objective ?? null);
  return power > 0 && power < IMPLAUSIBLE_FROM ? power : null;
}

/** Reads the display settings of all channels. They are below `dimension[channelDimension]` in the tree. */
function readChannels(
  leaves: readonly Leaf[],
  channelDimension: number,
): ReadonlyMap<number, ChannelDisplay> {
  const channels = new Map<number, ChannelDisplay>();
  for (const leaf of leaves) {
    const [dimension, channel, field] = leaf.path;
    if (dimension?.tag !== vsiTag.dimension || dimension.index !== channelDimension) continue;
    if (channel?.tag !== vsiTag.channelProperties) continue;
    const number = channel.index ?? 0;
    const display = channels.get(number) ?? { colour: null, range: null };
    if (field?.tag === vsiTag.displayLimits && leaf.path.length === 3) {
      channels.set(number, { ...display, range: readRange(leaf) });
    } else if (field?.tag === vsiTag.colourTable && leaf.type === BGR_TABLE_TYPE) {
      // The leaf is the field `tableElements` below the colour table.
      channels.set(number, { ...display, colour: readLastColour(leaf.bytes) });
    }
  }
  return channels;
}

function readRange(leaf: Leaf): GreyRange | null {
  const [black = 0, white = 0] = readDoubles(leaf);
  return white > black ? { black, white } : null;
}

/** Returns the colour of a channel: the last and brightest colour of its table; null for a table without colours. */
function readLastColour(table: Uint8Array): Colour | null {
  const [b, g, r] = table.subarray(-3);
  return b === undefined || g === undefined || r === undefined ? null : { r, g, b };
}

function readInt32s(leaf: Leaf | null): readonly number[] {
  if (!leaf) return [];
  const view = new DataView(leaf.bytes.buffer, leaf.bytes.byteOffset, leaf.bytes.length);
  return Array.from({ length: Math.floor(leaf.bytes.length / 4) }, (_, i) => view.getInt32(i * 4, true));
}

function readDoubles(leaf: Leaf | null): readonly number[] {
  if (!leaf) return [];
  const view = new DataView(leaf.bytes.buffer, leaf.bytes.byteOffset, leaf.bytes.length);
  return Array.from({ length: Math.floor(leaf.bytes.length / 8) }, (_, i) => view.getFloat64(i * 8, true));
}

/** Decodes text; returns '' for null. The text is UTF-16 even if the field's type says bytes. */
function readText(leaf: Leaf | null): string {
  return leaf ? new TextDecoder('utf-16le').decode(leaf.bytes).replaceAll('\0', '') : '';
}
