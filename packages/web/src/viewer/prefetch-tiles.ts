/** Chooses the tiles to prefetch: those that the user's next movement or zoom step will probably show. */
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { drawnLevelAt } from './drawn-level.ts';
import type { Point } from './overlay/placement.ts';
import type { TileCoordinates } from './slide-tiles.ts';
import type { SlideField } from './view-address.ts';

/** Zoom factor of one press of the zoom buttons and keys. */
const zoomStep = 2;
/** A screen counts as at most this many tiles, so that few tiles are loaded in vain if the prediction is wrong. */
const maxTilesPerScreen = 60;
/** Up to this many tiles around the field are prefetched even when a single tile fills the field. */
const minTilesAround = 4;

/** The data on which the prediction of the next movement is based. */
export interface PrefetchSituation {
  /** The visible part of the slide. */
  readonly field: SlideField;
  /** Size of the viewer in CSS pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** Last movement of the field's centre, in image pixels; zero when there was none. */
  readonly direction: Point;
  /** Position of the pointer in CSS pixels of the viewer; null when the pointer is outside the viewer. */
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
 * Returns the tiles to prefetch, without the visible tiles. The most probable ones come first: the tiles of the next
 * field in the direction of the last movement, then the ring of tiles around the field, then the finer tiles that a zoom
 * step at the pointer would show. The number of tiles is at most twice the number of visible tiles or `minTilesAround`,
 * whichever is larger.
 */
export function tilesToPrefetch(
  descriptor: DeepZoomDescriptor,
  { field, size, direction, pointer }: PrefetchSituation,
): readonly TileCoordinates[] {
  const maxLevel = maxLevelOf(descriptor);
  /** Returns the level that is drawn at a zoom, never coarser than the coarsest level that the viewer requests. */
  const levelAt = (zoom: number) =>
    Math.max(minLevelOf(descriptor.tileSize, maxLevel), drawnLevelAt(zoom, maxLevel));
  const level = levelAt(field.zoom);
  const finerLevel = levelAt(field.zoom * zoomStep);
  const visibleArea = areaOf(field, size);

  /** Tiles by `keyOf`. A `Map` keeps the order in which keys are added first, so the most probable tiles stay first. */
  const candidates = new Map<string, TileCoordinates>();
  const add = (tiles: readonly TileCoordinates[]) => {
    for (const tile of tiles) candidates.set(keyOf(tile), tile);
  };
  const visibleTiles = tilesIn(descriptor, level, visibleArea);
  const nextArea = nextAreaOf(visibleArea, direction);
  if (nextArea !== null) add(tilesIn(descriptor, level, nextArea));
  const tileSideAtFullResolution = descriptor.tileSize * 2 ** (maxLevel - level);
  add(tilesIn(descriptor, level, enlarged(visibleArea, tileSideAtFullResolution)));
  for (const tile of visibleTiles) candidates.delete(keyOf(tile));

  const tilesPerScreen = Math.min(maxTilesPerScreen, visibleTiles.length);
  const tilesAround = [...candidates.values()].slice(0, Math.max(minTilesAround, tilesPerScreen));
  if (finerLevel === level) return tilesAround;
  const finerTiles = tilesIn(descriptor, finerLevel, zoomedArea(visibleArea, size, field, pointer));
  const finerTileCount = Math.max(0, 2 * tilesPerScreen - tilesAround.length);
  return [...tilesAround, ...finerTiles.slice(0, finerTileCount)];
}

function keyOf({ level, column, row }: TileCoordinates): string {
  return `${level}/${column}/${row}`;
}

/**
 * Returns the bounding box of the field, with edges parallel to those of the slide; for a rotated slide it is larger than the
 * field.
 */
function areaOf({ x, y, zoom, rotation }: SlideField, size: PrefetchSituation['size']): Area {
  const angle = (rotation * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
  const width = (size.width * cos + size.height * sin) / zoom;
  const height = (size.width * sin + size.height * cos) / zoom;
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Returns the area, moved by its own width or height in the direction of a movement; null if there is no movement. */
function nextAreaOf(area: Area, { x, y }: Point): Area | null {
  /** The movement as a fraction of the area's width or of its height: the larger of the two fractions. */
  const movedFraction = Math.max(Math.abs(x) / area.width, Math.abs(y) / area.height);
  if (movedFraction === 0) return null;
  return { ...area, x: area.x + x / movedFraction, y: area.y + y / movedFraction };
}

/** Returns an area that is larger by `margin` on each side. */
function enlarged({ x, y, width, height }: Area, margin: number): Area {
  return { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin };
}

/**
 * Returns the area that one zoom step would show. The point under the pointer stays in place. Without a pointer, and
 * as a simplification for a rotated or mirrored slide, the centre of the view stays in place.
 */
function zoomedArea(
  visibleArea: Area,
  size: PrefetchSituation['size'],
  field: SlideField,
  pointer: Point | null,
): Area {
  const isUpright = field.rotation === 0 && !field.isMirrored;
  /** Position of the point that stays in place, as fractions of the view's width and height. */
  const [fractionX, fractionY] =
    pointer === null || !isUpright ? [0.5, 0.5] : [pointer.x / size.width, pointer.y / size.height];
  const [width, height] = [visibleArea.width / zoomStep, visibleArea.height / zoomStep];
  return {
    x: visibleArea.x + (visibleArea.width - width) * fractionX,
    y: visibleArea.y + (visibleArea.height - height) * fractionY,
    width,
    height,
  };
}

/** Returns the tiles of an area, nearest to its centre first. */
function tilesIn(descriptor: DeepZoomDescriptor, level: number, area: Area): TileCoordinates[] {
  const { width, height, tileSize, format } = descriptor;
  const tileSideAtFullResolution = tileSize * 2 ** (maxLevelOf(descriptor) - level);
  /** Returns the columns or rows of the tiles between two coordinates, within the length of the slide. */
  const indicesBetween = (start: number, end: number, slideLength: number) => {
    const first = Math.max(0, Math.floor(start / tileSideAtFullResolution));
    const last = Math.min(
      Math.ceil(slideLength / tileSideAtFullResolution) - 1,
      Math.floor(end / tileSideAtFullResolution),
    );
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
  };
  const columns = indicesBetween(area.x, area.x + area.width, width);
  const centre = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  const distanceToCentre = ({ column, row }: TileCoordinates) =>
    Math.hypot(
      (column + 0.5) * tileSideAtFullResolution - centre.x,
      (row + 0.5) * tileSideAtFullResolution - centre.y,
    );
  return indicesBetween(area.y, area.y + area.height, height)
    .flatMap((row) => columns.map((column) => ({ level, column, row, format })))
    .sort((a, b) => distanceToCentre(a) - distanceToCentre(b));
}
