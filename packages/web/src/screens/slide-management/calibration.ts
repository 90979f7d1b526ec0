/**
 * The scale of a slide in the two text fields in which an administrator edits it: micrometres per pixel (`mpp`) and objective power
 * (`power`, the magnification of the objective, such as 40). Converts the texts from and to the values of the catalogue. In the API, a
 * scale that an administrator has entered is called `calibration`.
 */
import type { ManagedImage } from '@lamina/contract';
import type { SlideEdit } from '../../api/slides.ts';
import { formatMeasuredValue } from '../../formatting/numbers.ts';

/** Range of micrometres per pixel that the API accepts. */
const mppRange = { min: 0.001, max: 1000 };
/** Range of the objective power that the API accepts. */
const powerRange = { min: 0.1, max: 1000 };

/**
 * Returns the initial text of a field: the value that an administrator has entered earlier. The text is empty when the value comes from
 * the slide file, or was derived from the value that was entered in the other field.
 */
export function enteredText(slide: ManagedImage | undefined, field: 'mpp' | 'power'): string {
  if (slide?.scale_entered !== true) return '';
  const [value, isDerived] =
    field === 'mpp'
      ? [slide.mpp_x, slide.mpp_derived]
      : [slide.objective_power, slide.objective_power_derived];
  return value === null || isDerived ? '' : formatMeasuredValue(value, 'tr'); // 'tr' until the user chooses a language
}

/**
 * Returns the scale that the two fields contain: undefined when it did not change; null when both fields are empty
 * (this restores the scale of the slide file); 'invalid' when a number is malformed or out of range. Both fields accept
 * a decimal comma and a decimal point.
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
  if (!isEmptyOrWithin(mppValue, mppRange) || !isEmptyOrWithin(powerValue, powerRange)) return 'invalid';
  if (mppValue === null && powerValue === null) return null;
  return {
    ...(mppValue !== null && { mpp: mppValue }),
    ...(powerValue !== null && { objective_power: powerValue }),
  };
}

/** Returns whether a field is empty or contains a number within the range; false for NaN. */
function isEmptyOrWithin(value: number | null, { min, max }: typeof mppRange): boolean {
  return value === null || (value >= min && value <= max);
}

/** Returns the number in a text field, for example 0.25 for '0,25'; null for an empty text, and NaN for a text that is not a number. */
function parseNumber(text: string): number | null {
  const normalised = text.trim().replace(',', '.');
  if (normalised === '') return null;
  return /^\d+(\.\d+)?$/.test(normalised) ? Number(normalised) : Number.NaN;
}
