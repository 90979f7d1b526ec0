import { describe, expect, it } from 'vitest';
import { toApiTerms, toFormTerms } from './terms.ts';

/** An end date at noon of a day in the time zone of the test, as the API returns it. */
const noon = new Date(2099, 11, 21, 12).toISOString();
const endOf = (...day: readonly [year: number, monthIndex: number, date: number]) =>
  new Date(...day, 23, 59, 59, 999).toISOString();

describe('toApiTerms (converts the terms of an account from the form for the API)', () => {
  it('returns the unchanged end date, with its time of day, when the user has not changed the day in the form', () => {
    const terms = toFormTerms({ datasets: [], expiresAt: noon });
    expect(toApiTerms({ ...terms, datasets: ['Böbrek'] })).toEqual({ datasets: ['Böbrek'], expiresAt: noon });
  });

  it('returns the last millisecond of the day that the user has chosen as the new end date', () => {
    const terms = toFormTerms({ datasets: [], expiresAt: noon });
    expect(toApiTerms({ ...terms, lastDay: '2099-12-22' }).expiresAt).toBe(endOf(2099, 11, 22));
  });

  it('returns no end date when the user has cleared the day, or when the end date of the account is in the past', () => {
    expect(
      toApiTerms({ ...toFormTerms({ datasets: [], expiresAt: noon }), lastDay: '' }).expiresAt,
    ).toBeNull();
    const past = toFormTerms({ datasets: [], expiresAt: '2020-01-01T12:00:00.000Z' });
    expect(past.lastDay).toBe('');
    expect(toApiTerms(past).expiresAt).toBeNull();
  });

  it('throws a RangeError when the year of the last day has five digits', () => {
    const terms = toFormTerms({ datasets: [], expiresAt: noon });
    expect(() => toApiTerms({ ...terms, lastDay: '20271-01-01' })).toThrow(RangeError);
  });
});
