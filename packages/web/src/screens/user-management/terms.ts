/**
 * Converts the terms of an account (its restricted datasets and its end date) between the API and a form. In the API, the account
 * ends at a point in time; in the form, at the end of a day in the time zone of the browser.
 */
import type { Terms } from '../../api/users.ts';

export interface ChosenTerms {
  readonly datasets: readonly string[];
  /** Last day of the account, such as '2026-11-21'; empty when none is chosen: the API then gets no end date. */
  readonly lastDay: string;
  /** End date that the account has now, as ISO 8601; null when there is none or it has passed. The form does not change this field. */
  readonly currentEnd: string | null;
}

export const noTerms: ChosenTerms = { datasets: [], lastDay: '', currentEnd: null };

/** Converts the terms of an account for the form. An end date in the past becomes empty, because the form rejects past days. */
export function toFormTerms({ datasets, expiresAt }: Terms): ChosenTerms {
  const currentEnd = expiresAt !== null && new Date(expiresAt) > new Date() ? expiresAt : null;
  return { datasets, lastDay: currentEnd === null ? '' : dayOf(new Date(currentEnd)), currentEnd };
}

/**
 * Converts the terms of the form for the API. The account ends at the end of its last day; if that day is unchanged, at the same time as
 * before.
 *
 * @throws RangeError when the last day is neither empty nor a day: such terms must not become terms without an end date
 */
export function toApiTerms({ datasets, lastDay, currentEnd }: ChosenTerms): Terms {
  if (currentEnd !== null && lastDay === dayOf(new Date(currentEnd)))
    return { datasets, expiresAt: currentEnd };
  if (lastDay === '') return { datasets, expiresAt: null };
  return { datasets, expiresAt: new Date(`${lastDay}T23:59:59.999`).toISOString() }; // in the time zone of the browser
}

/** Returns the first day that a form accepts as the last day of an account: today. */
export function firstSelectableDay(): string {
  return dayOf(new Date());
}

/** Last day that a form accepts. Without this limit, browsers accept years of more than four digits, which `Date` cannot parse. */
export const lastSelectableDay = '9999-12-31';

/** Returns the day in the format of `<input type="date">`, such as '2026-11-21'. */
function dayOf(date: Date): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}
