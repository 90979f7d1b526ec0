/** Formats numbers in the current language. */
import { languageNow } from '../language/language.ts';

/** Returns '1.234' in Turkish, '1,234' in English. */
export function formatNumber(value: number): string {
  return value.toLocaleString(languageNow('tr'));
}

/** Returns '2.5', in Turkish '2,5', with all digits; in the mixed language as in English. */
export function formatFigure(value: number): string {
  const text = String(value);
  return languageNow('en') === 'tr' ? text.replace('.', ',') : text;
}
