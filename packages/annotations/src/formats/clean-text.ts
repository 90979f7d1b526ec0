/** Cleans names and other strings that a file contains or a user types: removes the characters that `parse-properties.ts` rejects. */
import type { Collector } from './collector.ts';

/** Matches printable ASCII, which needs no cleaning. Most strings in large files match. */
const plainPattern = /^[ -~]*$/;

type WarningCollector = Pick<Collector, 'warn'>;

/**
 * Cleans a single-line string: a run of tabs and line ends becomes one space; other control characters and lone surrogates are
 * removed. @param collector receives a warning when the text changes
 */
export function cleanLine(text: string, collector?: WarningCollector): string {
  if (plainPattern.test(text)) return text;
  const clean = removeLoneSurrogates(text)
    .replace(/[\t\n\r\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Cc}/gu, '');
  if (clean !== text) collector?.warn('text_cleaned');
  return clean;
}

/** Cleans a string of several lines: removes lone surrogates, and control characters except tabs and line ends. @param collector as above */
export function cleanText(text: string, collector?: WarningCollector): string {
  if (plainPattern.test(text)) return text;
  const clean = removeLoneSurrogates(text).replace(/[^\P{Cc}\t\n\r]/gu, '');
  if (clean !== text) collector?.warn('text_cleaned');
  return clean;
}

/** Removes surrogates without a partner, which are not valid characters. */
function removeLoneSurrogates(text: string): string {
  return text.replace(/\p{Cs}/gu, '');
}
