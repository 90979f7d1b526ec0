import { describe, expect, it } from 'vitest';
import { formatDate, formatDateAndTime } from './dates.ts';

/** The moment that is 21 November 2026, 14:05 where the test runs. */
const moment = new Date(2026, 10, 21, 14, 5).toISOString();

describe('a date on the screen', () => {
  it('is day, month name and year in Turkish', () => {
    expect(formatDate(moment)).toBe('21 Kasım 2026');
  });

  it('has the time after it in user management', () => {
    expect(formatDateAndTime(moment)).toBe('21 Kasım 2026 14:05');
  });

  it.each([null, '', 'yesterday'])('is N/A for %j', (iso) => {
    expect(formatDate(iso)).toBe('N/A');
    expect(formatDateAndTime(iso)).toBe('N/A');
  });
});
