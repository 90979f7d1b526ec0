/** Number formats in the current language. Until the user chooses one, `chosenLanguageOr` returns its argument. */
import type { Language } from '@lamina/contract';
import { chosenLanguageOr } from '../language/language.ts';

/** Returns '1.234' in Turkish, '1,234' in English. */
export function formatNumber(value: number): string {
  return value.toLocaleString(chosenLanguageOr('tr'));
}

/**
 * Returns a measured value without rounding and digit grouping, with a decimal comma in Turkish ('2,5') and a point in English ('2.5').
 *
 * @param languageBeforeChoice the language until the user chooses one; English by default, because the slide viewer is then in English
 */
export function formatMeasuredValue(value: number, languageBeforeChoice: Language = 'en'): string {
  const text = String(value);
  return chosenLanguageOr(languageBeforeChoice) === 'tr' ? text.replace('.', ',') : text;
}
