/** Chooses the level of the image pyramid that is drawn at a zoom, as OpenSeadragon does. */

/** Device pixels per CSS pixel above which a user sees no more detail on a phone or a desktop screen. */
const visibleDensity = 2;
/** OpenSeadragon's default of `minPixelRatio`. */
const defaultMinPixelRatio = 0.5;

/**
 * Returns OpenSeadragon's `minPixelRatio`: the smallest width, in device pixels, of an image pixel of the drawn level.
 *
 * OpenSeadragon's default is 0.5 on every screen. On a phone with 3 device pixels per CSS pixel, the drawn level would
 * then be up to two levels finer than on a screen with 1 device pixel per CSS pixel: up to sixteen times as many tiles.
 *
 * @param density device pixels per CSS pixel
 */
export function minPixelRatioOf(density: number): number {
  return defaultMinPixelRatio * Math.max(1, density / visibleDensity);
}

/**
 * Returns the finest level that is drawn at a zoom: at most `maxLevel`; negative when even level 0 is finer than needed.
 *
 * @param zoom CSS pixels per pixel of the slide at full resolution
 * @param maxLevel Deep Zoom level of full resolution; each lower level has half the size
 * @param density device pixels per CSS pixel
 */
export function drawnLevelAt(zoom: number, maxLevel: number, density = window.devicePixelRatio): number {
  const finest = maxLevel + Math.floor(Math.log2((zoom * density) / minPixelRatioOf(density)));
  return Math.min(maxLevel, finest);
}
