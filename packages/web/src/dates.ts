/** Dates as the language of the moment writes them, Turkish unless English was chosen; in the browser's time zone. */
import type { Language } from '@lamina/contract';
import { languageNow } from './language.ts';
import { texts } from './texts.ts';

type Styles = Readonly<Record<Language, Intl.DateTimeFormat>>;

const longDate = inBoth({ dateStyle: 'long' });
const longDateAndTime = inBoth({ dateStyle: 'long', timeStyle: 'short' });
const timeOfDay = inBoth({ timeStyle: 'medium' });
const dayAndMonth = inBoth({ day: 'numeric', month: 'short' });

/** '21 Kasım 2026'; 'N/A' for null and for what is no date. */
export function formatDate(iso: string | null): string {
  return format(longDate, iso);
}

/** '21 Kasım 2026 14:05'; 'N/A' for null and for what is no date. */
export function formatDateAndTime(iso: string | null): string {
  return format(longDateAndTime, iso);
}

/** '14:05:09' */
export function formatTime(iso: string): string {
  return format(timeOfDay, iso);
}

/** '21 Kas' */
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
