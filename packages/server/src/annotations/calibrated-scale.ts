import type { ImageRow } from '../store/images.ts';

/**
 * Returns the pixel size of a slide in micrometres for measurements in exported files. Null where the file does not state it:
 * a value derived from the magnification of the objective is no calibration.
 */
export function calibratedScaleOf({
  mpp_x: x,
  mpp_y: y,
  derived_scale,
}: Pick<ImageRow, 'mpp_x' | 'mpp_y' | 'derived_scale'>): { readonly x: number; readonly y: number } | null {
  return x === null || y === null || derived_scale === 'mpp' ? null : { x, y };
}
