import type { ImageRow } from '../store/images.ts';

/**
 * Returns the pixel size of a slide in micrometres, for measurements in exported annotation files.
 *
 * @returns null if neither the slide file nor an administrator states it. A pixel size that the server has derived from the
 *   magnification of the objective (`derived_scale` is `mpp`) is not exact enough for measurements.
 */
export function statedPixelSizeOf({
  mpp_x: x,
  mpp_y: y,
  derived_scale,
}: Pick<ImageRow, 'mpp_x' | 'mpp_y' | 'derived_scale'>): { readonly x: number; readonly y: number } | null {
  return x === null || y === null || derived_scale === 'mpp' ? null : { x, y };
}
