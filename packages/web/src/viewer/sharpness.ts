/** Whether the view is drawn from the tiles it needs, or from enlarged coarser ones. */
import OpenSeadragon, { type Tile, type TiledImage, type Viewer } from 'openseadragon';
import { minPixelRatioOf } from './drawn-level.ts';

/**
 * - `sharp`: every visible tile is drawn
 * - `loading`: some visible tiles are still being loaded
 * - `incomplete`: some visible tiles failed to load; coarser tiles, enlarged, are drawn in their place
 */
export type Sharpness = 'sharp' | 'loading' | 'incomplete';

/** Whether one of these tiles is visible now and of the level that OpenSeadragon draws at this zoom. */
export function lacksTiles(viewer: Viewer, image: TiledImage, tiles: readonly Tile[]): boolean {
  if (tiles.length === 0) return false;
  const drawnLevel = drawnLevelOf(viewer, image);
  const seen = viewer.viewport.getBounds(true).getBoundingBox();
  return tiles.some(
    ({ tiledImage, level, bounds }) =>
      tiledImage === image &&
      level === drawnLevel &&
      bounds.x < seen.x + seen.width &&
      bounds.x + bounds.width > seen.x &&
      bounds.y < seen.y + seen.height &&
      bounds.y + bounds.height > seen.y,
  );
}

/** The finest level whose pixels are at least `minPixelRatio` device pixels wide. */
function drawnLevelOf(viewer: Viewer, { source }: TiledImage): number {
  const { viewport } = viewer;
  const screenWidth =
    viewport.getContainerSize().x * viewport.getZoom(true) * OpenSeadragon.pixelDensityRatio;
  const minPixelRatio = minPixelRatioOf(OpenSeadragon.pixelDensityRatio);
  const widthOf = (level: number) => Math.ceil(source.dimensions.x / 2 ** (source.maxLevel - level));
  let level = source.maxLevel;
  while (level > source.minLevel && screenWidth / widthOf(level) < minPixelRatio) level -= 1;
  return level;
}
