import { chosenLanguageOr } from '../language/language.ts';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** Formats a number of bytes in the largest unit (a power of 1000) in which it is at least 1: '12,4 GB' in Turkish. */
export function formatBytes(bytes: number): string {
  const largestPower = Math.floor(Math.log10(Math.max(bytes, 1)) / 3);
  const power = Math.min(units.length - 1, largestPower);
  return new Intl.NumberFormat(chosenLanguageOr('tr'), {
    style: 'unit',
    unit: units[power],
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}
