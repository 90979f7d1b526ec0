/** Computes the tiles of the first view before anything is drawn, so that they load early. */
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { drawnLevelAt } from './drawn-level.ts';
import type { TileAddress } from './slide-tiles.ts';
import type { SlideField } from './view-address.ts';

/** Maximum number of tiles: a wrong guess must stay cheap. */
const mostTiles = 60;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the tiles of the first view, nearest to the centre first.
 *
 * @param place CSS pixels of the viewer
 * @param field the visible field; null: the whole slide
 * @returns empty when unknown: for a rotated view, or a viewer without a size
 */
export function firstTiles(
  descriptor: DeepZoomDescriptor,
  place: Size,
  field: SlideField | null,
): readonly TileAddress[] {
  if (place.width === 0 || place.height === 0 || (field !== null && field.rotation !== 0)) return [];
  const { width, height, tileSize, format } = descriptor;
  const zoom = field?.zoom ?? Math.min(place.width / width, place.height / height);
  const centre = field ?? { x: width / 2, y: height / 2 };

  const maxLevel = maxLevelOf(descriptor);
  const level = Math.max(minLevelOf(descriptor, maxLevel), drawnLevelAt(zoom, maxLevel));
  const side = tileSize * 2 ** (maxLevel - level);
  const columns = inView(centre.x, place.width / zoom, width, side);
  const rows = inView(centre.y, place.height / zoom, height, side);

  const away = ({ column, row }: TileAddress) =>
    ((column + 0.5) * side - centre.x) ** 2 + ((row + 0.5) * side - centre.y) ** 2;
  return rows
    .flatMap((row) => columns.map((column) => ({ level, column, row, format })))
    .sort((one, other) => away(one) - away(other))
    .slice(0, mostTiles);
}

/** Returns the tile indices along one side. All lengths in pixels of full resolution. */
function inView(centre: number, extent: number, length: number, side: number): number[] {
  const last = Math.ceil(length / side) - 1;
  const from = Math.max(0, Math.floor((centre - extent / 2) / side));
  const to = Math.min(last, Math.floor((centre + extent / 2) / side));
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place);
}
