/** Number formats in the current language. */
import { chosenLanguageOr } from '../language/language.ts';

/** Returns '1.234' in Turkish, '1,234' in English. */
export function formatNumber(value: number): string {
  return value.toLocaleString(chosenLanguageOr('tr'));
}

/** Returns all digits of a measured value: with a decimal comma ('2,5') if the user chose Turkish, otherwise with a point ('2.5'). */
export function formatFigure(value: number): string {
  const text = String(value);
  return chosenLanguageOr('en') === 'tr' ? text.replace('.', ',') : text;
}
