/**
 * The pyramid of a CZI file. This module assigns the subblocks (stored images) to levels, and finds those that a tile shows.
 * Subblocks may have any position and size, and may overlap.
 */
import type { Subblock } from './directory.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { limits } from './limits.ts';

/** A subblock and its position in pixels of its level, whose top left corner is 0, 0. */
export interface PlacedSubblock {
  readonly subblock: Subblock;
  readonly x: number;
  readonly y: number;
  /** Drawing order: higher is further in front. */
  readonly order: number;
}

export interface MosaicLevel {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Full-resolution pixels per pixel of the level. */
  readonly downsample: number;
  /**
   * Returns the subblocks that overlap a rectangle of the level, back to front.
   *
   * @throws SlideError LIMIT_EXCEEDED when there are more than `limits.subblocksPerTile`
   */
  subblocksIn(
    channel: number,
    x: number,
    y: number,
    width: number,
    height: number,
  ): readonly PlacedSubblock[];
}

/** A bounding box in pixels of full resolution. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Rows of pixels per band. Each level has an index that lists the subblocks in each band. */
const BAND_ROWS = 512;

/**
 * Builds levels from the displayed subblocks: full resolution, and every smaller resolution that covers all scenes
 * (separately scanned areas) in all channels. Scenes may have different numbers of resolutions.
 *
 * @param subblocks all subblocks of the displayed channels, at least one
 * @returns the levels, largest first
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export function openMosaic(subblocks: readonly Subblock[]): readonly [MosaicLevel, ...MosaicLevel[]] {
  // Pairs of a downsample and its subblocks, in ascending order of the downsample.
  const [fullGroup, ...reducedGroups] = [...groupByDownsample(subblocks)].sort(([a], [b]) => a - b);
  if (fullGroup?.[0] !== 1) throw corruptError('it has no subblock at full resolution');
  const [, fullSubblocks] = fullGroup;

  const box = boundingBoxOf(fullSubblocks);
  const width = box.right - box.left;
  const height = box.bottom - box.top;
  if (Math.max(width, height) > limits.imageSide || width * height > limits.imagePixels) {
    throw limitExceededError(`its subblocks span ${width} × ${height} pixels`);
  }
  const fullBoxes = boxesBySceneAndChannel(fullSubblocks);
  const completeResolutions = reducedGroups.filter(([downsample, reducedSubblocks]) =>
    covers(boxesBySceneAndChannel(reducedSubblocks), fullBoxes, downsample),
  );
  if (completeResolutions.length + 1 > limits.levels)
    throw limitExceededError(`it has ${completeResolutions.length + 1} resolutions`);
  return [
    levelOf(1, fullSubblocks, box),
    ...completeResolutions.map(([downsample, reducedSubblocks]) =>
      levelOf(downsample, reducedSubblocks, box),
    ),
  ];
}

/**
 * Groups subblocks by downsample, which the file does not state: it is estimated as full size ÷ stored size. The stored
 * size is rounded, so the estimate is close for large subblocks and imprecise for edge subblocks of a few pixels. Therefore
 * large subblocks are grouped first. Each subblock joins the group with the closest downsample that the rounding of its size
 * allows. If there is none, it begins a new group, whose downsample is its ratio, rounded to an integer of at least 2.
 */
function groupByDownsample(subblocks: readonly Subblock[]): Map<number, Subblock[]> {
  const groups = new Map<number, Subblock[]>();
  const largestFirst = subblocks.toSorted((a, b) => shorterStoredSide(b) - shorterStoredSide(a));
  for (const subblock of largestFirst) {
    const [min, max] = downsampleBounds(subblock);
    const ratio = downsampleRatio(subblock);
    const isFull = subblock.width === subblock.storedWidth && subblock.height === subblock.storedHeight;
    const downsample = isFull
      ? 1
      : (closestDownsample([...groups.keys()], ratio, min, max) ?? Math.max(2, Math.round(ratio)));
    if (downsample < min || downsample > max) {
      throw corruptError(
        `a subblock is reduced by ${subblock.width} : ${subblock.storedWidth} and ${subblock.height} : ${subblock.storedHeight}`,
      );
    }
    const group = groups.get(downsample) ?? [];
    group.push(subblock);
    groups.set(downsample, group);
    // Groups that do not become levels count too, so the limit for groups is four times the limit for levels.
    if (groups.size > 4 * limits.levels) throw limitExceededError('its subblocks have too many resolutions');
  }
  return groups;
}

/** Returns the downsample between `min` and `max` that is closest to the ratio; null when there is none. */
function closestDownsample(
  downsamples: readonly number[],
  ratio: number,
  min: number,
  max: number,
): number | null {
  const distance = (downsample: number) => Math.abs(Math.log(downsample / ratio));
  const candidates = downsamples.filter(
    (downsample) => downsample > 1 && downsample >= min && downsample <= max,
  );
  return candidates.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

/** Returns the ratio of the full to the stored size along the longer side, where rounding matters less. */
function downsampleRatio({ width, height, storedWidth, storedHeight }: Subblock): number {
  return storedWidth >= storedHeight ? width / storedWidth : height / storedHeight;
}

function shorterStoredSide({ storedWidth, storedHeight }: Subblock): number {
  return Math.min(storedWidth, storedHeight);
}

/**
 * Returns the range of downsamples with which the full size gives the stored size. It is a range because writers round the
 * stored size up, down or to the nearest pixel. The maximum is Infinity if only one pixel is stored.
 */
function downsampleBounds({
  width,
  height,
  storedWidth,
  storedHeight,
}: Subblock): [min: number, max: number] {
  const min = Math.max(width / (storedWidth + 1), height / (storedHeight + 1));
  const max = Math.min(width / Math.max(0, storedWidth - 1), height / Math.max(0, storedHeight - 1));
  return [min, max];
}

/** Returns a bounding box for each pair of scene and channel. */
function boxesBySceneAndChannel(subblocks: readonly Subblock[]): ReadonlyMap<string, Box> {
  const boxes = new Map<string, Box>();
  for (const subblock of subblocks) {
    const key = `${subblock.scene} ${subblock.channel}`;
    boxes.set(key, extendBox(boxes.get(key) ?? null, subblock));
  }
  return boxes;
}

/** Returns whether the reduced boxes cover each box of full resolution, within two pixels of the reduced level. */
function covers(
  reducedBoxes: ReadonlyMap<string, Box>,
  fullBoxes: ReadonlyMap<string, Box>,
  downsample: number,
): boolean {
  const tolerance = 2 * downsample;
  for (const [key, full] of fullBoxes) {
    const reduced = reducedBoxes.get(key);
    if (!reduced) return false;
    if (reduced.left > full.left + tolerance || reduced.top > full.top + tolerance) return false;
    if (reduced.right < full.right - tolerance || reduced.bottom < full.bottom - tolerance) return false;
  }
  return true;
}

function boundingBoxOf(subblocks: readonly Subblock[]): Box {
  let box: Box | null = null;
  for (const subblock of subblocks) box = extendBox(box, subblock);
  if (!box) throw corruptError('it has no subblock to display');
  return box;
}

function extendBox(box: Box | null, { x, y, width, height }: Subblock): Box {
  return {
    left: Math.min(box?.left ?? x, x),
    top: Math.min(box?.top ?? y, y),
    right: Math.max(box?.right ?? x + width, x + width),
    bottom: Math.max(box?.bottom ?? y + height, y + height),
  };
}

/** Builds a level. @param box bounding box of the subblocks of full resolution, which is the area of every level */
function levelOf(downsample: number, subblocks: readonly Subblock[], box: Box): MosaicLevel {
  const placed = subblocks
    .map((subblock) => ({
      subblock,
      x: Math.round((subblock.x - box.left) / downsample),
      y: Math.round((subblock.y - box.top) / downsample),
    }))
    .sort(({ subblock: a }, { subblock: b }) => a.scene - b.scene || a.mosaicIndex - b.mosaicIndex)
    .map((placement, order) => ({ ...placement, order }));
  const subblocksByBand = indexByBand(placed);
  return {
    width: Math.max(1, Math.floor((box.right - box.left) / downsample)),
    height: Math.max(1, Math.floor((box.bottom - box.top) / downsample)),
    downsample,
    subblocksIn(channel, x, y, width, height) {
      const overlapping = new Set<PlacedSubblock>();
      for (let band = Math.floor(y / BAND_ROWS); band * BAND_ROWS < y + height; band++) {
        for (const candidate of subblocksByBand.get(band) ?? []) {
          const isOfChannel = candidate.subblock.channel === channel;
          if (isOfChannel && overlaps(candidate, x, y, width, height)) overlapping.add(candidate);
        }
      }
      if (overlapping.size > limits.subblocksPerTile)
        throw limitExceededError(`${overlapping.size} subblocks overlap one tile`);
      return [...overlapping].sort((a, b) => a.order - b.order);
    },
  };
}

/** Indexes subblocks by bands of rows, back to front. */
function indexByBand(placed: readonly PlacedSubblock[]): ReadonlyMap<number, readonly PlacedSubblock[]> {
  const bands = new Map<number, PlacedSubblock[]>();
  let entryCount = 0;
  for (const placement of placed) {
    const lastRow = placement.y + placement.subblock.storedHeight - 1;
    const firstBand = Math.floor(placement.y / BAND_ROWS);
    const lastBand = Math.floor(lastRow / BAND_ROWS);
    entryCount += lastBand - firstBand + 1;
    if (entryCount > limits.indexEntries)
      throw limitExceededError(`the index of a level has more than ${limits.indexEntries} entries`);
    for (let band = firstBand; band <= lastBand; band++) {
      const inBand = bands.get(band);
      if (inBand) inBand.push(placement);
      else bands.set(band, [placement]);
    }
  }
  return bands;
}

function overlaps(
  { subblock, x, y }: PlacedSubblock,
  left: number,
  top: number,
  width: number,
  height: number,
): boolean {
  return (
    x < left + width && x + subblock.storedWidth > left && y < top + height && y + subblock.storedHeight > top
  );
}
