import { describe, expect, it } from 'vitest';
import { formatDate, formatDateAndTime } from './dates.ts';

/** A time that is 21 November 2026, 14:05 in the time zone of the test. */
const moment = new Date(2026, 10, 21, 14, 5).toISOString();

describe('formatDate and formatDateAndTime', () => {
  it('formatDate returns "21 Kasım 2026" while the user has chosen no language', () => {
    expect(formatDate(moment)).toBe('21 Kasım 2026');
  });

  it('formatDateAndTime returns "21 Kasım 2026 14:05" while the user has chosen no language', () => {
    expect(formatDateAndTime(moment)).toBe('21 Kasım 2026 14:05');
  });

  it.each([null, '', 'yesterday'])('both return "N/A" for the missing or invalid date %j', (iso) => {
    expect(formatDate(iso)).toBe('N/A');
    expect(formatDateAndTime(iso)).toBe('N/A');
  });
});
