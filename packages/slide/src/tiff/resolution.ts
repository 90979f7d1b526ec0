/** The pixel size from the resolution tags of a TIFF directory. */
import { orientationTransform } from '../decode/orient-raster.ts';
import type { Orientation, Slide } from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

/** Values of ResolutionUnit; inch is the default. */
const INCH = 2;
const CENTIMETRE = 3;
const MICROMETRES_PER_UNIT: Readonly<Record<number, number>> = { [INCH]: 25_400, [CENTIMETRE]: 10_000 };
/**
 * Plausible pixel sizes of a microscope, in micrometres. The resolutions that programs write by default are not plausible:
 * 72 dots per inch are 353 µm, 300 dots per inch 85 µm.
 */
const PLAUSIBLE_MPP = { min: 0.02, max: 12 };

/**
 * Reads micrometres per pixel from XResolution, YResolution (both in pixels per unit) and ResolutionUnit. x and y are the
 * axes of the stored image, before its orientation is applied.
 *
 * Source: TIFF 6.0, section 8.
 *
 * @returns null when absent or not plausible for a microscope
 */
export async function readResolution(directory: TiffDirectory): Promise<{ x: number; y: number } | null> {
  const micrometresPerUnit = MICROMETRES_PER_UNIT[(await directory.number(tag.ResolutionUnit)) ?? INCH];
  const pixelsPerUnitX = await directory.real(tag.XResolution);
  const pixelsPerUnitY = await directory.real(tag.YResolution);
  if (!micrometresPerUnit || !pixelsPerUnitX || !pixelsPerUnitY) return null;
  return plausibleMpp(micrometresPerUnit / pixelsPerUnitX, micrometresPerUnit / pixelsPerUnitY);
}

/** Returns the pixel size along the axes of the upright image. @param mpp micrometres per pixel along the stored axes */
export function uprightMpp(mpp: Slide['mpp'], orientation: Orientation): Slide['mpp'] {
  return mpp && orientationTransform(orientation).isSwapped ? { x: mpp.y, y: mpp.x } : mpp;
}

/** Returns the pixel size in micrometres; null when it is not plausible for a microscope. */
export function plausibleMpp(x: number, y: number): { x: number; y: number } | null {
  const isPlausible = [x, y].every((mpp) => mpp >= PLAUSIBLE_MPP.min && mpp <= PLAUSIBLE_MPP.max);
  return isPlausible ? { x, y } : null;
}
