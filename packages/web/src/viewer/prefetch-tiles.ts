/** Chooses the tiles that a person will probably need next. */
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { drawnLevelAt } from './drawn-level.ts';
import type { Point } from './overlay/placement.ts';
import type { TileAddress } from './slide-tiles.ts';
import type { SlideField } from './view-address.ts';

/** A step of the zoom buttons, keys and a few notches of the wheel. */
const zoomStep = 2;
/** As in first-tiles.ts: a screen has at most so many tiles. */
const mostTiles = 60;

export interface PrefetchSituation {
  readonly field: SlideField;
  /** CSS pixels of the viewer. */
  readonly size: { readonly width: number; readonly height: number };
  /** Last movement of the field's centre, in image pixels; zero when there was none. */
  readonly direction: Point;
  /** Of the pointer in CSS pixels of the viewer; null when it is elsewhere. */
  readonly pointer: Point | null;
}

/** Rectangle in image pixels at full resolution. */
interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Returns at most two screens of tiles beside those of the field: the next field in the direction of the last movement, the
 * ring around the field, and what a zoom step at the pointer shows.
 */
export function prefetchTiles(
  descriptor: DeepZoomDescriptor,
  { field, size, direction, pointer }: PrefetchSituation,
): readonly TileAddress[] {
  const maxLevel = maxLevelOf(descriptor);
  const levelAt = (zoom: number) => Math.max(minLevelOf(descriptor, maxLevel), drawnLevelAt(zoom, maxLevel));
  const level = levelAt(field.zoom);
  const finer = levelAt(field.zoom * zoomStep);
  const seen = areaOf(field, size);
  const side = descriptor.tileSize * 2 ** (maxLevel - level);

  const wanted = new Map<string, TileAddress>();
  const add = (tiles: readonly TileAddress[]) => {
    for (const tile of tiles) wanted.set(`${tile.level}/${tile.column}/${tile.row}`, tile);
  };
  const visible = tilesIn(descriptor, level, seen);
  const next = moved(seen, direction);
  if (next !== null) add(tilesIn(descriptor, level, next));
  add(ringOf(descriptor, level, seen, side));
  for (const tile of visible) wanted.delete(`${tile.level}/${tile.column}/${tile.row}`);
  const screen = Math.min(mostTiles, visible.length);
  const around = [...wanted.values()].slice(0, Math.max(4, screen));
  if (finer === level) return around;
  const below = tilesIn(descriptor, finer, zoomedAt(seen, size, field, pointer));
  return [...around, ...below.slice(0, Math.max(0, 2 * screen - around.length))];
}

/** The bounding box of the field. */
function areaOf({ x, y, zoom, rotation }: SlideField, size: PrefetchSituation['size']): Area {
  const angle = (rotation * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
  const width = (size.width * cos + size.height * sin) / zoom;
  const height = (size.width * sin + size.height * cos) / zoom;
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Returns the next field in this direction; null without direction. */
function moved(area: Area, { x, y }: Point): Area | null {
  const steps = Math.max(Math.abs(x) / area.width, Math.abs(y) / area.height);
  if (steps === 0) return null;
  return { ...area, x: area.x + x / steps, y: area.y + y / steps };
}

function ringOf(descriptor: DeepZoomDescriptor, level: number, seen: Area, side: number): TileAddress[] {
  const around = {
    x: seen.x - side,
    y: seen.y - side,
    width: seen.width + 2 * side,
    height: seen.height + 2 * side,
  };
  return tilesIn(descriptor, level, around);
}

/** Returns what a zoom step shows whose fixed point is the pointer, else the centre. */
function zoomedAt(
  seen: Area,
  size: PrefetchSituation['size'],
  field: SlideField,
  pointer: Point | null,
): Area {
  const isUpright = field.rotation === 0 && !field.isMirrored;
  const [across, down] =
    pointer === null || !isUpright ? [0.5, 0.5] : [pointer.x / size.width, pointer.y / size.height];
  const [width, height] = [seen.width / zoomStep, seen.height / zoomStep];
  return {
    x: seen.x + (seen.width - width) * across,
    y: seen.y + (seen.height - height) * down,
    width,
    height,
  };
}

/** Returns the tiles of an area, nearest to its centre first. */
function tilesIn(descriptor: DeepZoomDescriptor, level: number, area: Area): TileAddress[] {
  const { width, height, tileSize, format } = descriptor;
  const side = tileSize * 2 ** (maxLevelOf(descriptor) - level);
  const indices = (from: number, extent: number, length: number) => {
    const first = Math.max(0, Math.floor(from / side));
    const last = Math.min(Math.ceil(length / side) - 1, Math.floor((from + extent) / side));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
  };
  const columns = indices(area.x, area.width, width);
  const centre = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  const away = ({ column, row }: TileAddress) =>
    Math.hypot((column + 0.5) * side - centre.x, (row + 0.5) * side - centre.y);
  return indices(area.y, area.height, height)
    .flatMap((row) => columns.map((column) => ({ level, column, row, format })))
    .sort((one, other) => away(one) - away(other));
}
