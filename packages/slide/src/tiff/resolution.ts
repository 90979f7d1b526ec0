/** Reads the pixel size from the resolution tags. */
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

const MICROMETRES: Readonly<Record<number, number>> = { 2: 25_400, 3: 10_000 };
/**
 * Plausible pixel sizes of a microscope, in micrometres. Most programs write 72 or 300 dots per inch by default, which
 * are 353 and 85.
 */
const PLAUSIBLE = { least: 0.02, most: 12 };

/**
 * Reads micrometres per pixel from XResolution, YResolution and ResolutionUnit (2 inch, 3 centimetre).
 *
 * Source: TIFF 6.0, section 8.
 *
 * @returns null when absent or not plausible for a microscope
 */
export async function readResolution(directory: TiffDirectory): Promise<{ x: number; y: number } | null> {
  const unit = MICROMETRES[(await directory.number(tag.ResolutionUnit)) ?? 2];
  const [perUnitX, perUnitY] = [await directory.real(tag.XResolution), await directory.real(tag.YResolution)];
  return unit && perUnitX && perUnitY ? plausibleMpp(unit / perUnitX, unit / perUnitY) : null;
}

/** Returns the pixel size; null when it is not plausible for a microscope. */
export function plausibleMpp(x: number, y: number): { x: number; y: number } | null {
  const isPlausible = [x, y].every((side) => side >= PLAUSIBLE.least && side <= PLAUSIBLE.most);
  return isPlausible ? { x, y } : null;
}
