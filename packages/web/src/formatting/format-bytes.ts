import { chosenLanguageOr } from '../language/language.ts';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const fractionDigits = 1;

/** Formats a number of bytes in the largest unit (a power of 1000) in which the shown number is at least 1: '12,4 GB' in Turkish. */
export function formatBytes(bytes: number): string {
  let power = 0;
  let value = bytes;
  // Compares the rounded number, because 999,960 bytes would otherwise be shown as 1,000 kB.
  while (Number(value.toFixed(fractionDigits)) >= 1000 && power < units.length - 1) {
    value /= 1000;
    power += 1;
  }
  return new Intl.NumberFormat(chosenLanguageOr('tr'), {
    style: 'unit',
    unit: units[power],
    maximumFractionDigits: fractionDigits,
  }).format(value);
}
