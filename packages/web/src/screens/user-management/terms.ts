/** The terms of an account as a form holds them: a date is a day of the browser's calendar. */
import type { UserDetails } from '@lamina/contract';
import type { Terms } from '../../api/users.ts';

export interface ChosenTerms {
  readonly datasets: readonly string[];
  /** '2026-11-21', the last day; empty: it never ends. */
  readonly lastDay: string;
}

export const noTerms: ChosenTerms = { datasets: [], lastDay: '' };

/** Returns the terms for the form. A date that has passed is left out: the administrator chooses a new one. */
export function termsOf({ datasets, expiresAt }: Pick<UserDetails, 'datasets' | 'expiresAt'>): ChosenTerms {
  const isToCome = expiresAt !== null && new Date(expiresAt) > new Date();
  return { datasets, lastDay: isToCome ? dayOf(new Date(expiresAt)) : '' };
}

/** Returns the terms for the API. The account lasts to the end of its last day. */
export function parseTerms({ datasets, lastDay }: ChosenTerms): Terms {
  const end = new Date(`${lastDay}T23:59:59.999`); // without a zone: the browser's
  return { datasets, expiresAt: Number.isNaN(end.getTime()) ? null : end.toISOString() };
}

/** The first day that may be chosen. */
export function firstDay(): string {
  return dayOf(new Date());
}

function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
