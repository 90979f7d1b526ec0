import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

const MICROMETRES: Readonly<Record<number, number>> = { 2: 25_400, 3: 10_000 };
/**
 * Pixels of a microscope lie between these, in micrometres. Most programs write 72 or 300 dots per inch for
 * pictures they know nothing of: 353 and 85.
 */
const PLAUSIBLE = { least: 0.02, most: 12 };

/**
 * Micrometres per pixel out of XResolution, YResolution and ResolutionUnit (2 inch, 3 centimetre).
 *
 * Source: TIFF 6.0, section 8.
 *
 * @returns null when the directory does not say, or says what no microscope does
 */
export async function readResolution(directory: TiffDirectory): Promise<{ x: number; y: number } | null> {
  const unit = MICROMETRES[(await directory.number(tag.ResolutionUnit)) ?? 2];
  const [perUnitX, perUnitY] = [await directory.real(tag.XResolution), await directory.real(tag.YResolution)];
  return unit && perUnitX && perUnitY ? plausibleMpp(unit / perUnitX, unit / perUnitY) : null;
}

/** @returns null when no microscope has such pixels */
export function plausibleMpp(x: number, y: number): { x: number; y: number } | null {
  const isPlausible = [x, y].every((side) => side >= PLAUSIBLE.least && side <= PLAUSIBLE.most);
  return isPlausible ? { x, y } : null;
}
