/** Numbers as the language of the moment writes them. */
import { languageNow } from './language.ts';

/** '1.234' in Turkish, '1,234' in English. */
export function formatNumber(value: number): string {
  return value.toLocaleString(languageNow('tr'));
}

/** '2.5', in Turkish '2,5', all its digits: a figure of the WSI Viewer, which the specification's mix has in English. */
export function formatFigure(value: number): string {
  const text = String(value);
  return languageNow('en') === 'tr' ? text.replace('.', ',') : text;
}
