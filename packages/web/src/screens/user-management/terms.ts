/**
 * Converts the terms of an account (its restricted datasets and its end date) between the API and a form. In the API, the account ends at a
 * point in time; in the form, at the end of a day in the time zone of the browser.
 */
import type { UserDetails } from '@lamina/contract';
import type { Terms } from '../../api/users.ts';

export interface ChosenTerms {
  readonly datasets: readonly string[];
  /** Last day of the account, such as '2026-11-21'; empty when the account has no end date. */
  readonly lastDay: string;
}

export const noTerms: ChosenTerms = { datasets: [], lastDay: '' };

/** Returns the terms for the form, without an end date in the past, because the administrator has to choose a new one. */
export function termsOf({ datasets, expiresAt }: Pick<UserDetails, 'datasets' | 'expiresAt'>): ChosenTerms {
  const isInFuture = expiresAt !== null && new Date(expiresAt) > new Date();
  return { datasets, lastDay: isInFuture ? dayOf(new Date(expiresAt)) : '' };
}

/** Returns the terms for the API. The account ends at the end of its last day. */
export function parseTerms({ datasets, lastDay }: ChosenTerms): Terms {
  const end = new Date(`${lastDay}T23:59:59.999`); // in the time zone of the browser; invalid when `lastDay` is empty
  const hasEnd = !Number.isNaN(end.getTime());
  return { datasets, expiresAt: hasEnd ? end.toISOString() : null };
}

/** Returns the first day that a form accepts as the last day of an account: today. */
export function firstSelectableDay(): string {
  return dayOf(new Date());
}

/** Returns the day in the format of `<input type="date">`, such as '2026-11-21'. */
function dayOf(date: Date): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}
