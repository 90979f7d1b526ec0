/** Dates as Turkish writes them, in the browser's time zone. */
const longDate = new Intl.DateTimeFormat('tr-TR', { dateStyle: 'long' });
const longDateAndTime = new Intl.DateTimeFormat('tr-TR', { dateStyle: 'long', timeStyle: 'short' });

const notAvailable = 'N/A';

/** '21 Kasım 2026'; 'N/A' for null and for what is no date. */
export function formatDate(iso: string | null): string {
  return format(longDate, iso);
}

/** '21 Kasım 2026 14:05'; 'N/A' for null and for what is no date. */
export function formatDateAndTime(iso: string | null): string {
  return format(longDateAndTime, iso);
}

function format(style: Intl.DateTimeFormat, iso: string | null): string {
  const date = new Date(iso ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? notAvailable : style.format(date);
}
