/** Assigns subblocks, which lie at any position and overlap, to levels, and finds those under a tile. */

import type { Subblock } from './directory.ts';
import { corrupt, limitExceeded } from './errors.ts';
import { limits } from './limits.ts';

/** A subblock in pixels of its level, whose top left corner is 0, 0. */
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
  readonly downsample: number;
  /**
   * Returns the subblocks that overlap a rectangle of the level, back to front.
   *
   * @throws SlideError LIMIT_EXCEEDED when there are more than the limit per tile
   */
  subblocksIn(
    channel: number,
    x: number,
    y: number,
    width: number,
    height: number,
  ): readonly PlacedSubblock[];
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Rows per band of the index of a level. */
const BAND = 512;

/**
 * Builds levels from the displayed subblocks: full resolution, and every smaller resolution that all scenes have and
 * that covers them, because scenes may have different numbers of resolutions.
 *
 * @param subblocks of the displayed channels, at least one
 * @returns largest first
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export function openMosaic(subblocks: readonly Subblock[]): readonly [MosaicLevel, ...MosaicLevel[]] {
  const levels = groupByDownsample(subblocks);
  const [full, ...smaller] = [...levels].sort(([one], [other]) => one - other);
  if (full?.[0] !== 1) throw corrupt('it has no subblock at full resolution');

  const box = boxOf(full[1]);
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  if (Math.max(width, height) > limits.imageSide || width * height > limits.imagePixels) {
    throw limitExceeded(`its subblocks span ${width} × ${height} pixels`);
  }
  const parts = boxesByPart(full[1]);
  const complete = smaller.filter(([downsample, reduced]) => covers(boxesByPart(reduced), parts, downsample));
  if (complete.length + 1 > limits.levels) throw limitExceeded(`it has ${complete.length + 1} resolutions`);
  return [
    levelOf(1, full[1], box),
    ...complete.map(([downsample, reduced]) => levelOf(downsample, reduced, box)),
  ];
}

/**
 * Groups subblocks by downsample, the ratio of their rounded sizes. Large subblocks give it exactly, subblocks of a few
 * pixels at the edges hardly at all; so the large ones are grouped first, and the others join where they fit.
 */
function groupByDownsample(subblocks: readonly Subblock[]): Map<number, Subblock[]> {
  const levels = new Map<number, Subblock[]>();
  const exact = subblocks.toSorted((one, other) => exactness(other) - exactness(one));
  for (const subblock of exact) {
    const [least, most] = downsamplesOf(subblock);
    const ratio = ratioOf(subblock);
    const isFull = subblock.width === subblock.storedWidth && subblock.height === subblock.storedHeight;
    const downsample = isFull
      ? 1
      : (nearest([...levels.keys()], ratio, least, most) ?? Math.max(2, Math.round(ratio)));
    if (downsample < least || downsample > most) {
      throw corrupt(
        `a subblock is reduced by ${subblock.width} : ${subblock.storedWidth} and ${subblock.height} : ${subblock.storedHeight}`,
      );
    }
    const level = levels.get(downsample) ?? [];
    level.push(subblock);
    levels.set(downsample, level);
    if (levels.size > 4 * limits.levels) throw limitExceeded('its subblocks have too many resolutions');
  }
  return levels;
}

/** Returns the best fitting downsample found so far; null when none fits. */
function nearest(downsamples: readonly number[], ratio: number, least: number, most: number): number | null {
  const off = (downsample: number) => Math.abs(Math.log(downsample / ratio));
  const fitting = downsamples.filter((each) => each > 1 && each >= least && each <= most);
  return fitting.sort((one, other) => off(one) - off(other))[0] ?? null;
}

/** Returns the ratio along the longer side, which is more exact. */
function ratioOf({ width, height, storedWidth, storedHeight }: Subblock): number {
  return storedWidth >= storedHeight ? width / storedWidth : height / storedHeight;
}

const exactness = ({ storedWidth, storedHeight }: Subblock): number => Math.min(storedWidth, storedHeight);

/** Returns the range of downsamples, because sizes are rounded up, down or to the nearest. */
function downsamplesOf({
  width,
  height,
  storedWidth,
  storedHeight,
}: Subblock): [least: number, most: number] {
  const least = Math.max(width / (storedWidth + 1), height / (storedHeight + 1));
  const most = Math.min(width / Math.max(0, storedWidth - 1), height / Math.max(0, storedHeight - 1));
  return [least, most];
}

/** Returns the bounding box of each scene and channel, which form one image. */
function boxesByPart(subblocks: readonly Subblock[]): ReadonlyMap<string, Box> {
  const parts = new Map<string, Box>();
  for (const subblock of subblocks) {
    const name = `${subblock.scene} ${subblock.channel}`;
    parts.set(name, extendBox(parts.get(name) ?? null, subblock));
  }
  return parts;
}

function covers(
  reduced: ReadonlyMap<string, Box>,
  full: ReadonlyMap<string, Box>,
  downsample: number,
): boolean {
  const slack = 2 * downsample;
  for (const [name, { left, top, right, bottom }] of full) {
    const box = reduced.get(name);
    if (!box) return false;
    if (box.left > left + slack || box.top > top + slack) return false;
    if (box.right < right - slack || box.bottom < bottom - slack) return false;
  }
  return true;
}

function boxOf(subblocks: readonly Subblock[]): Box {
  let box: Box | null = null;
  for (const subblock of subblocks) box = extendBox(box, subblock);
  if (!box) throw corrupt('it has no subblock to display');
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

function levelOf(downsample: number, subblocks: readonly Subblock[], box: Box): MosaicLevel {
  const placed = subblocks
    .map((subblock) => ({
      subblock,
      x: Math.round((subblock.x - box.left) / downsample),
      y: Math.round((subblock.y - box.top) / downsample),
    }))
    .sort(
      ({ subblock: one }, { subblock: other }) =>
        one.scene - other.scene || one.mosaicIndex - other.mosaicIndex,
    )
    .map((each, order) => ({ ...each, order }));
  const bands = indexByBand(placed);
  return {
    width: Math.max(1, Math.floor((box.right - box.left) / downsample)),
    height: Math.max(1, Math.floor((box.bottom - box.top) / downsample)),
    downsample,
    subblocksIn(channel, x, y, width, height) {
      const found = new Set<PlacedSubblock>();
      for (let band = Math.floor(y / BAND); band * BAND < y + height; band++) {
        for (const each of bands.get(band) ?? []) {
          if (each.subblock.channel === channel && overlaps(each, x, y, width, height)) found.add(each);
        }
      }
      if (found.size > limits.subblocksPerTile)
        throw limitExceeded(`${found.size} subblocks overlap one tile`);
      return [...found].sort((one, other) => one.order - other.order);
    },
  };
}

/** Indexes subblocks by bands of rows, back to front. */
function indexByBand(placed: readonly PlacedSubblock[]): ReadonlyMap<number, readonly PlacedSubblock[]> {
  const bands = new Map<number, PlacedSubblock[]>();
  let entries = 0;
  for (const each of placed) {
    const [first, last] = [each.y, each.y + each.subblock.storedHeight - 1].map((y) =>
      Math.floor(y / BAND),
    ) as [number, number];
    entries += last - first + 1;
    if (entries > limits.indexEntries) throw limitExceeded('its subblocks are too many and too tall');
    for (let band = first; band <= last; band++) {
      const known = bands.get(band);
      if (known) known.push(each);
      else bands.set(band, [each]);
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
