import { languageNow } from '../language/language.ts';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** Formats bytes in the largest decimal unit with a number above 1: '12,4 GB'. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return new Intl.NumberFormat(languageNow('tr'), {
    style: 'unit',
    unit: units[power],
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}
