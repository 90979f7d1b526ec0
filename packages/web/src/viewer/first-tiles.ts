/** Computes which tiles the first view of a slide needs, so that the page can request them before OpenSeadragon does. */
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { drawnLevelAt } from './drawn-level.ts';
import type { TileCoordinates } from './slide-tiles.ts';
import type { SlideField } from './view-address.ts';

/** Maximum number of returned tiles, so that few tiles are loaded in vain if OpenSeadragon does not need them. */
const maxTiles = 60;

/** Size of the viewer in CSS pixels. */
interface ViewportSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the tiles of the first view, those nearest to the centre first.
 *
 * @param field the part of the slide that will be visible; null for the whole slide
 * @returns an empty array for a rotated view, whose tiles are not computed, and for a viewer without a size
 */
export function firstTiles(
  descriptor: DeepZoomDescriptor,
  viewport: ViewportSize,
  field: SlideField | null,
): readonly TileCoordinates[] {
  const isRotated = field !== null && field.rotation !== 0;
  if (viewport.width === 0 || viewport.height === 0 || isRotated) return [];
  const { width, height, tileSize, format } = descriptor;
  const zoom = field?.zoom ?? Math.min(viewport.width / width, viewport.height / height);
  const centre = field ?? { x: width / 2, y: height / 2 };

  const maxLevel = maxLevelOf(descriptor);
  const level = Math.max(minLevelOf(descriptor.tileSize, maxLevel), drawnLevelAt(zoom, maxLevel));
  const tileSideAtFullResolution = tileSize * 2 ** (maxLevel - level);
  const columns = visibleIndices(centre.x, viewport.width / zoom, width, tileSideAtFullResolution);
  const rows = visibleIndices(centre.y, viewport.height / zoom, height, tileSideAtFullResolution);

  const squaredDistanceToCentre = ({ column, row }: TileCoordinates) =>
    ((column + 0.5) * tileSideAtFullResolution - centre.x) ** 2 +
    ((row + 0.5) * tileSideAtFullResolution - centre.y) ** 2;
  return rows
    .flatMap((row) => columns.map((column) => ({ level, column, row, format })))
    .sort((a, b) => squaredDistanceToCentre(a) - squaredDistanceToCentre(b))
    .slice(0, maxTiles);
}

/**
 * Returns the columns or rows of the visible tiles. All lengths are in pixels at full resolution.
 *
 * @param visibleLength width or height of the visible field around `centre`
 */
function visibleIndices(
  centre: number,
  visibleLength: number,
  slideLength: number,
  tileSide: number,
): number[] {
  const lastIndexOfSlide = Math.ceil(slideLength / tileSide) - 1;
  const first = Math.max(0, Math.floor((centre - visibleLength / 2) / tileSide));
  const last = Math.min(lastIndexOfSlide, Math.floor((centre + visibleLength / 2) / tileSide));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
}
