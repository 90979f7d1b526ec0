import type { Collector } from './collector.ts';

/** Most texts of large files: nothing to clean. */
const plain = /^[ -~]*$/;

type Warn = Pick<Collector, 'warn'>;

/** Replaces what a name may not contain: white space by a space, other controls by nothing. */
export function cleanLine(text: string, collector: Warn): string {
  if (plain.test(text)) return text;
  const clean = cleanSurrogates(text)
    .replace(/[\t\n\r\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Cc}/gu, '');
  if (clean !== text) collector.warn('text_cleaned');
  return clean;
}

/** Removes controls but tabs and line ends. */
export function cleanText(text: string, collector: Warn): string {
  if (plain.test(text)) return text;
  const clean = cleanSurrogates(text).replace(/[^\P{Cc}\t\n\r]/gu, '');
  if (clean !== text) collector.warn('text_cleaned');
  return clean;
}

function cleanSurrogates(text: string): string {
  return text.replace(/\p{Cs}/gu, '');
}
