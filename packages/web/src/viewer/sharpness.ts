/**
 * Determines whether a view is sharp: whether it shows every tile of the level that its zoom needs, and no enlarged tiles of
 * coarser levels in their place.
 */
import OpenSeadragon, { type Tile, type TiledImage, type Viewer } from 'openseadragon';

/**
 * - `sharp`: every visible tile is drawn
 * - `loading`: some visible tiles are still being loaded
 * - `incomplete`: some visible tiles failed to load; coarser tiles, enlarged, are drawn in their place
 */
export type Sharpness = 'sharp' | 'loading' | 'incomplete';

/** Returns whether one of the tiles that failed to load is visible now and belongs to the level that is drawn at this zoom. */
export function lacksTiles(viewer: Viewer, image: TiledImage, failedTiles: readonly Tile[]): boolean {
  if (failedTiles.length === 0) return false;
  const drawnLevel = drawnLevelOf(viewer, image as DrawnImage);
  // In OpenSeadragon's viewport coordinates (the slide is 1 wide), like the bounds of tiles. `true`: at this moment.
  const visibleBox = viewer.viewport.getBounds(true).getBoundingBox();
  return failedTiles.some(
    ({ tiledImage, level, bounds }) =>
      tiledImage === image &&
      level === drawnLevel &&
      bounds.x < visibleBox.x + visibleBox.width &&
      bounds.x + bounds.width > visibleBox.x &&
      bounds.y < visibleBox.y + visibleBox.height &&
      bounds.y + bounds.height > visibleBox.y,
  );
}

/** OpenSeadragon's types lack `minPixelRatio`, which it sets when it opens the image and keeps when the pixel density changes. */
type DrawnImage = TiledImage & { readonly minPixelRatio: number };

/** Returns the level that OpenSeadragon draws: the finest with pixels of at least `minPixelRatio` device pixels. */
function drawnLevelOf(viewer: Viewer, { source, minPixelRatio }: DrawnImage): number {
  const { viewport } = viewer;
  /** Width of the whole slide on the screen in device pixels. */
  const slideWidth = viewport.getContainerSize().x * viewport.getZoom(true) * OpenSeadragon.pixelDensityRatio;
  /** Returns the width of a level in its own pixels. */
  const widthOf = (level: number) => Math.ceil(source.dimensions.x / 2 ** (source.maxLevel - level));
  let level = source.maxLevel;
  while (level > source.minLevel && slideWidth / widthOf(level) < minPixelRatio) level -= 1;
  return level;
}
