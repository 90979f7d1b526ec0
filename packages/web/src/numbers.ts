/** Numbers as the language of the moment writes them. */
import { languageNow } from './language.ts';

/** '1.234' in Turkish, '1,234' in English. */
export function formatNumber(value: number): string {
  return value.toLocaleString(languageNow('tr'));
}
