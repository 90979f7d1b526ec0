/**
 * Converts the scale of a slide between the catalogue and the two text fields in which an administrator edits it: micrometres per
 * pixel (`mpp`) and objective power (`power`).
 */
import type { ManagedImage } from '@lamina/contract';
import type { SlideEdit } from '../../api/slides.ts';

/**
 * Returns the text for a field: the value that an administrator has entered. The text is empty when the value comes from the slide file,
 * or was derived from the value that was entered in the other field.
 */
export function enteredText(slide: ManagedImage | undefined, value: 'mpp' | 'power'): string {
  if (slide?.scale_entered !== true) return '';
  const [entered, isDerived] =
    value === 'mpp'
      ? [slide.mpp_x, slide.mpp_derived]
      : [slide.objective_power, slide.objective_power_derived];
  return entered === null || isDerived ? '' : `${entered}`;
}

/**
 * Returns the scale that the two fields contain. Undefined means that it did not change, null that both fields were
 * emptied, which restores the scale of the file. Both fields accept a decimal comma. Micrometres per pixel are valid from
 * 0.001 to 1000, the objective power from 0.1 to 1000.
 */
export function calibrationOf(
  slide: ManagedImage,
  mpp: string,
  power: string,
): NonNullable<SlideEdit['calibration']> | null | undefined | 'invalid' {
  if (mpp.trim() === enteredText(slide, 'mpp') && power.trim() === enteredText(slide, 'power'))
    return undefined;
  const mppValue = parseNumber(mpp);
  const powerValue = parseNumber(power);
  // Also false for NaN.
  const isValid =
    (mppValue === null || (mppValue >= 0.001 && mppValue <= 1000)) &&
    (powerValue === null || (powerValue >= 0.1 && powerValue <= 1000));
  if (!isValid) return 'invalid';
  if (mppValue === null && powerValue === null) return null;
  return {
    ...(mppValue !== null && { mpp: mppValue }),
    ...(powerValue !== null && { objective_power: powerValue }),
  };
}

/** Returns the number in a text field; null for an empty text, NaN for any other text that is not a number. */
function parseNumber(text: string): number | null {
  const normalised = text.trim().replace(',', '.');
  if (normalised === '') return null;
  return /^\d+(\.\d+)?$/.test(normalised) ? Number(normalised) : Number.NaN;
}
