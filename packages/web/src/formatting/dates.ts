/** Date formats in the current language (Turkish unless the user has chosen English) and in the browser's time zone. */
import type { Language } from '@lamina/contract';
import { chosenLanguageOr } from '../language/language.ts';
import { texts } from '../language/texts.ts';

type Formats = Readonly<Record<Language, Intl.DateTimeFormat>>;

const longDate = formatsOf({ dateStyle: 'long' });
const longDateAndTime = formatsOf({ dateStyle: 'long', timeStyle: 'short' });
const timeOfDay = formatsOf({ timeStyle: 'medium' });
const dayAndMonth = formatsOf({ day: 'numeric', month: 'short' });

/** Returns a date such as '21 Kasım 2026'; 'N/A' for null and invalid dates. */
export function formatDate(iso: string | null): string {
  return format(longDate, iso);
}

/** Returns '21 Kasım 2026 14:05'; 'N/A' for null and invalid dates. */
export function formatDateAndTime(iso: string | null): string {
  return format(longDateAndTime, iso);
}

/** Returns '14:05:09'; 'N/A' for invalid dates. */
export function formatTime(iso: string): string {
  return format(timeOfDay, iso);
}

/** Returns '21 Kas'; 'N/A' for invalid dates. */
export function formatDayAndMonth(iso: string): string {
  return format(dayAndMonth, iso);
}

function formatsOf(options: Intl.DateTimeFormatOptions): Formats {
  return { tr: new Intl.DateTimeFormat('tr-TR', options), en: new Intl.DateTimeFormat('en-GB', options) };
}

function format(formats: Formats, iso: string | null): string {
  const date = new Date(iso ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? texts.notAvailable : formats[chosenLanguageOr('tr')].format(date);
}
