/** Subblocks lie anywhere and overlap; this puts them in levels, and finds those under a tile. */
import { corrupt, tooMuch } from './damage.ts';
import type { Subblock } from './directory.ts';
import { limits } from './limits.ts';

/** A subblock in the pixels of its level, whose top left corner is 0, 0. */
export interface Placed {
  readonly subblock: Subblock;
  readonly x: number;
  readonly y: number;
  /** The higher, the further in front. */
  readonly order: number;
}

export interface MosaicLevel {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly downsample: number;
  /**
   * The subblocks that touch a rectangle of the level, those behind first.
   *
   * @throws SlideError LIMIT_EXCEEDED when there are more than a tile may need
   */
  under(channel: number, x: number, y: number, width: number, height: number): readonly Placed[];
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Rows of a level that are looked up together. */
const BAND = 512;

/**
 * Make levels of the subblocks that are shown: full resolution, and every smaller one that all scenes have and that
 * covers them; scenes of a slide may be reduced to a different number of resolutions.
 *
 * @param subblocks of the channels that are shown, at least one
 * @returns largest first
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export function openMosaic(subblocks: readonly Subblock[]): readonly [MosaicLevel, ...MosaicLevel[]] {
  const levels = groupByDownsample(subblocks);
  const [full, ...smaller] = [...levels].sort(([one], [other]) => one - other);
  if (full?.[0] !== 1) throw corrupt('none of its subblocks is at full resolution');

  const box = boxOf(full[1]);
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  if (Math.max(width, height) > limits.imageSide || width * height > limits.imagePixels) {
    throw tooMuch(`its subblocks span ${width} × ${height} pixels`);
  }
  const parts = byPart(full[1]);
  const complete = smaller.filter(([downsample, reduced]) => covers(byPart(reduced), parts, downsample));
  if (complete.length + 1 > limits.levels) throw tooMuch(`it has ${complete.length + 1} resolutions`);
  return [
    levelOf(1, full[1], box),
    ...complete.map(([downsample, reduced]) => levelOf(downsample, reduced, box)),
  ];
}

/**
 * By how much a subblock is reduced says its own size, rounded somehow: large ones say it exactly, those of some
 * pixels at the edges hardly at all. So the large ones come first, and the others join where they fit.
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
    if (levels.size > 4 * limits.levels) throw tooMuch('its subblocks have too many resolutions');
  }
  return levels;
}

/** Of the resolutions found so far, the one that fits best; null when none does. */
function nearest(downsamples: readonly number[], ratio: number, least: number, most: number): number | null {
  const off = (downsample: number) => Math.abs(Math.log(downsample / ratio));
  const fitting = downsamples.filter((each) => each > 1 && each >= least && each <= most);
  return fitting.sort((one, other) => off(one) - off(other))[0] ?? null;
}

/** Along the longer side, which says it more exactly. */
function ratioOf({ width, height, storedWidth, storedHeight }: Subblock): number {
  return storedWidth >= storedHeight ? width / storedWidth : height / storedHeight;
}

const exactness = ({ storedWidth, storedHeight }: Subblock): number => Math.min(storedWidth, storedHeight);

/** Sizes are rounded up, down or to the nearest, so each allows a range. */
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

/** The subblocks of a channel in a scene are one picture. */
function byPart(subblocks: readonly Subblock[]): ReadonlyMap<string, Box> {
  const parts = new Map<string, Box>();
  for (const subblock of subblocks) {
    const name = `${subblock.scene} ${subblock.channel}`;
    parts.set(name, surround(parts.get(name) ?? null, subblock));
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
  for (const subblock of subblocks) box = surround(box, subblock);
  if (!box) throw corrupt('it shows nothing');
  return box;
}

function surround(box: Box | null, { x, y, width, height }: Subblock): Box {
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
  const bands = bandsOf(placed);
  return {
    width: Math.max(1, Math.floor((box.right - box.left) / downsample)),
    height: Math.max(1, Math.floor((box.bottom - box.top) / downsample)),
    downsample,
    under(channel, x, y, width, height) {
      const found = new Set<Placed>();
      for (let band = Math.floor(y / BAND); band * BAND < y + height; band++) {
        for (const each of bands.get(band) ?? []) {
          if (each.subblock.channel === channel && touches(each, x, y, width, height)) found.add(each);
        }
      }
      if (found.size > limits.subblocksPerTile) throw tooMuch(`${found.size} subblocks lie in one place`);
      return [...found].sort((one, other) => one.order - other.order);
    },
  };
}

/** Which subblocks have pixels in which band of rows, those behind first. */
function bandsOf(placed: readonly Placed[]): ReadonlyMap<number, readonly Placed[]> {
  const bands = new Map<number, Placed[]>();
  let entries = 0;
  for (const each of placed) {
    const [first, last] = [each.y, each.y + each.subblock.storedHeight - 1].map((y) =>
      Math.floor(y / BAND),
    ) as [number, number];
    entries += last - first + 1;
    if (entries > limits.indexEntries) throw tooMuch('its subblocks are too many and too high');
    for (let band = first; band <= last; band++) {
      const known = bands.get(band);
      if (known) known.push(each);
      else bands.set(band, [each]);
    }
  }
  return bands;
}

function touches(
  { subblock, x, y }: Placed,
  left: number,
  top: number,
  width: number,
  height: number,
): boolean {
  return (
    x < left + width && x + subblock.storedWidth > left && y < top + height && y + subblock.storedHeight > top
  );
}
