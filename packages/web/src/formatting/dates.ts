/** Formats dates in the current language (Turkish unless English was chosen) and the browser's time zone. */
import type { Language } from '@lamina/contract';
import { languageNow } from '../language/language.ts';
import { texts } from '../language/texts.ts';

type Styles = Readonly<Record<Language, Intl.DateTimeFormat>>;

const longDate = inBoth({ dateStyle: 'long' });
const longDateAndTime = inBoth({ dateStyle: 'long', timeStyle: 'short' });
const timeOfDay = inBoth({ timeStyle: 'medium' });
const dayAndMonth = inBoth({ day: 'numeric', month: 'short' });

/** Returns '21 Kasım 2026'; 'N/A' for null and invalid dates. */
export function formatDate(iso: string | null): string {
  return format(longDate, iso);
}

/** Returns '21 Kasım 2026 14:05'; 'N/A' for null and invalid dates. */
export function formatDateAndTime(iso: string | null): string {
  return format(longDateAndTime, iso);
}

/** Returns '14:05:09'. */
export function formatTime(iso: string): string {
  return format(timeOfDay, iso);
}

/** Returns '21 Kas'. */
export function formatDayAndMonth(iso: string): string {
  return format(dayAndMonth, iso);
}

function inBoth(options: Intl.DateTimeFormatOptions): Styles {
  return { tr: new Intl.DateTimeFormat('tr-TR', options), en: new Intl.DateTimeFormat('en-GB', options) };
}

function format(styles: Styles, iso: string | null): string {
  const date = new Date(iso ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? texts.notAvailable : styles[languageNow('tr')].format(date);
}
