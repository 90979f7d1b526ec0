/** The scale that an administrator enters for a slide, as texts of two fields. */
import type { ManagedImage } from '@lamina/contract';
import type { SlideEdit } from '../../api/slides.ts';

/** Returns a value as it was entered; empty while the scale of the file is used, or when only the other one was entered. */
export function enteredText(slide: ManagedImage | undefined, value: 'mpp' | 'power'): string {
  if (slide?.scale_entered !== true) return '';
  const [entered, isDerived] =
    value === 'mpp'
      ? [slide.mpp_x, slide.mpp_derived]
      : [slide.objective_power, slide.objective_power_derived];
  return entered === null || isDerived ? '' : `${entered}`;
}

/**
 * Returns the scale that the two fields enter: null takes the entered one back, undefined leaves it as it is.
 * Both fields accept a decimal comma.
 */
export function calibrationOf(
  slide: ManagedImage,
  mpp: string,
  power: string,
): NonNullable<SlideEdit['calibration']> | null | undefined | 'invalid' {
  if (mpp.trim() === enteredText(slide, 'mpp') && power.trim() === enteredText(slide, 'power'))
    return undefined;
  const [size, objective] = [numberOf(mpp), numberOf(power)];
  const isValid =
    (size === null || (size >= 0.001 && size <= 1000)) &&
    (objective === null || (objective >= 0.1 && objective <= 1000));
  if (!isValid) return 'invalid';
  if (size === null && objective === null) return null;
  return { ...(size !== null && { mpp: size }), ...(objective !== null && { objective_power: objective }) };
}

/** Returns null for an empty text, NaN for one that is no number. */
function numberOf(text: string): number | null {
  const written = text.trim().replace(',', '.');
  if (written === '') return null;
  return /^\d+(\.\d+)?$/.test(written) ? Number(written) : Number.NaN;
}
