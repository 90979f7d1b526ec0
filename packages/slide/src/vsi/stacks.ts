/** Reads the images of a VSI slide and their metadata from the tag tree. */
import type { Colour } from '../decode/raster.ts';
import type { GreyRange } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { limitExceeded } from './errors.ts';
import { limits } from './limits.ts';
import { type Leaf, readLeaves, type Step } from './tag-tree.ts';

/** One image of a VSI slide: the slide itself or an associated image. Its pixels are in `stack<number>/`. */
export interface Stack {
  readonly number: number;
  readonly kind: 'slide' | 'overview' | 'macro' | 'label' | 'other';
  /** Pixels; null when the file does not state them. */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** Micrometres per pixel. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  readonly objectivePower: number | null;
  /** Whether its pixels are in a separate .ets file. */
  readonly isExternal: boolean;
  /** Index of the channel among a tile's coordinates after column and row; null with a single channel. */
  readonly channelDimension: number | null;
  /** The same for the focal plane. */
  readonly focusDimension: number | null;
  /** By the channel's number. */
  readonly channels: ReadonlyMap<number, ChannelDisplay>;
}

/** Display settings of a channel; null where the file states none. */
export interface ChannelDisplay {
  readonly colour: Colour | null;
  readonly range: GreyRange | null;
}

/** Tags that are read, by number; some have different meanings at different positions. Source: SlideIO, vsitags. */
const tag = {
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
  /** The elements of a table. */
  elements: 268435458,
} as const;

const readTags: ReadonlySet<number> = new Set([
  tag.displayLimits,
  tag.frameScale,
  tag.frameUnit,
  tag.dimensionMeaning,
  tag.stackName,
  tag.imageBoundary,
  tag.stackType,
  tag.hasExternalFile,
  tag.magnification,
  tag.elements,
]);

/** Source: SlideIO, StackType. */
const kinds: Readonly<Record<number, Stack['kind']>> = { 0: 'slide', 1: 'overview', 256: 'macro' };
/** Source: SlideIO, vsistruct. */
const meaning = { focus: 1, channel: 4 } as const;
const BGR_TABLE = 270;
/** The only unit found in real files; others are not interpreted. */
const MICROMETRES = '10^-6m^1';
const PLAUSIBLE = 1000;

/** @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED */
export async function readStacks(source: ByteSource): Promise<readonly Stack[]> {
  const byStack = new Map<number, Leaf[]>();
  for (const { path, ...leaf } of await readLeaves(source, readTags)) {
    const [collection, stack, ...rest] = path;
    if (collection?.tag !== tag.collection || stack?.tag !== tag.stack) continue;
    const leaves = byStack.get(stack.index ?? 0) ?? [];
    leaves.push({ path: rest, ...leaf });
    byStack.set(stack.index ?? 0, leaves);
    if (byStack.size > limits.stacks) throw limitExceeded(`it has more than ${limits.stacks} images`);
  }
  return [...byStack].map(([number, leaves]) => stackOf(number, leaves));
}

function stackOf(number: number, leaves: readonly Leaf[]): Stack {
  /** Returns the first value with this path of tags. */
  const at = (...tags: readonly number[]) => leaves.find(({ path }) => isAt(path, tags)) ?? null;
  const properties = tag.stackProperties;
  const external = [tag.frame, tag.externalFile] as const;
  const boundary = wholeNumbers(at(...external, tag.imageBoundary));
  const [, , width = 0, height = 0] = boundary;
  const type = wholeNumbers(at(properties, tag.stackType))[0];
  const isLabel = textOf(at(properties, tag.stackName)).trim().toLowerCase() === 'label';
  const dimensions = leaves.filter(({ path }) =>
    isAt(path, [tag.dimension, tag.channelProperties, tag.dimensionMeaning]),
  );
  const dimensionOf = (readTags: number) =>
    dimensions.find((leaf) => wholeNumbers(leaf)[0] === readTags)?.path[0]?.index ?? null;
  const channelDimension = dimensionOf(meaning.channel);
  return {
    number,
    kind: isLabel ? 'label' : type === undefined ? 'slide' : (kinds[type] ?? 'other'),
    size: width > 0 && height > 0 ? { width, height } : null,
    mpp: readScale(at(properties, tag.frameScale), at(properties, tag.frameUnit)),
    objectivePower: readPower(leaves),
    isExternal: wholeNumbers(at(...external, tag.hasExternalFile))[0] === 1,
    channelDimension,
    focusDimension: dimensionOf(meaning.focus),
    channels: channelDimension === null ? new Map() : readChannels(leaves, channelDimension),
  };
}

function isAt(path: readonly Step[], tags: readonly number[]): boolean {
  return path.length === tags.length && tags.every((each, i) => path[i]?.tag === each);
}

function readScale(scale: Leaf | null, unit: Leaf | null): Stack['mpp'] {
  const [x = 0, y = 0] = realNumbers(scale);
  const isKnown = textOf(unit).trim() === MICROMETRES;
  const isPlausible = x > 0 && y > 0 && x < PLAUSIBLE && y < PLAUSIBLE;
  return isKnown && isPlausible ? { x, y } : null;
}

/** Returns the magnification of the objective, at any depth of the optical path. */
function readPower(leaves: readonly Leaf[]): number | null {
  const objective = leaves.find(
    ({ path }) =>
      path[0]?.tag === tag.stackProperties &&
      path[1]?.tag === tag.opticalPath &&
      path.at(-1)?.tag === tag.magnification,
  );
  const [power = 0] = realNumbers(objective ?? null);
  return power > 0 && power < PLAUSIBLE ? power : null;
}

function readChannels(leaves: readonly Leaf[], index: number): ReadonlyMap<number, ChannelDisplay> {
  const channels = new Map<number, ChannelDisplay>();
  for (const { path, ...leaf } of leaves) {
    const [dimension, channel, field] = path;
    if (dimension?.tag !== tag.dimension || dimension.index !== index || !channel) continue;
    if (channel.tag !== tag.channelProperties) continue;
    const number = channel.index ?? 0;
    const display = channels.get(number) ?? { colour: null, range: null };
    if (field?.tag === tag.displayLimits && path.length === 3) {
      channels.set(number, { ...display, range: readRange({ path, ...leaf }) });
    } else if (field?.tag === tag.colourTable && leaf.type === BGR_TABLE) {
      channels.set(number, { ...display, colour: readLastColour(leaf.bytes) });
    }
  }
  return channels;
}

function readRange(leaf: Leaf): GreyRange | null {
  const [black = 0, white = 0] = realNumbers(leaf);
  return white > black ? { black, white } : null;
}

/** Returns the channel colour: the last of a table from dark to bright. */
function readLastColour(table: Uint8Array): Colour | null {
  const [b, g, r] = table.subarray(-3);
  return b === undefined || g === undefined || r === undefined ? null : { r, g, b };
}

function wholeNumbers(leaf: Leaf | null): readonly number[] {
  if (!leaf) return [];
  const view = new DataView(leaf.bytes.buffer, leaf.bytes.byteOffset, leaf.bytes.length);
  return Array.from({ length: Math.floor(leaf.bytes.length / 4) }, (_, i) => view.getInt32(i * 4, true));
}

function realNumbers(leaf: Leaf | null): readonly number[] {
  if (!leaf) return [];
  const view = new DataView(leaf.bytes.buffer, leaf.bytes.byteOffset, leaf.bytes.length);
  return Array.from({ length: Math.floor(leaf.bytes.length / 8) }, (_, i) => view.getFloat64(i * 8, true));
}

/** Decodes a text, which is UTF-16 even when its type is bytes. */
function textOf(leaf: Leaf | null): string {
  return leaf ? new TextDecoder('utf-16le').decode(leaf.bytes).replaceAll('\0', '') : '';
}
