/** Which level of a slide is drawn at a zoom. */

/** Device pixels per CSS pixel beyond which a person sees no more detail on a screen of a hand or a desk. */
const visibleDensity = 2;

/**
 * Returns how many device pixels wide the pixels of a drawn level are at least: OpenSeadragon's `minPixelRatio`. Its default, up
 * to two image pixels per device pixel, would load sixteen times the tiles on a phone with 3 device pixels per CSS pixel that a
 * screen with 1 needs.
 *
 * @param density device pixels per CSS pixel
 */
export function minPixelRatioOf(density: number): number {
  return 0.5 * Math.max(1, density / visibleDensity);
}

/**
 * Returns the finest level that is drawn.
 *
 * @param zoom CSS pixels per pixel of the slide at full resolution
 * @param maxLevel the level of full resolution; each one before it has half the size
 * @returns at most `maxLevel`; may be negative for a slide of a few pixels
 */
export function drawnLevelAt(zoom: number, maxLevel: number, density = window.devicePixelRatio): number {
  const finest = maxLevel + Math.floor(Math.log2((zoom * density) / minPixelRatioOf(density)));
  return Math.min(maxLevel, finest);
}
