import { describe, expect, it } from 'vitest';
import { isTimeZone, lastLocalDays } from './local-days.ts';

/** Returns a text for each day: its date, its start and the start of the next day. */
const textsOfDays = (now: string, zone: string, count: number) =>
  lastLocalDays(new Date(now), zone, count).map(
    ({ day, from, to }) => `${day} ${from.toISOString()} ${to.toISOString()}`,
  );

describe('lastLocalDays (days of a time zone for statistics)', () => {
  it('returns the current day of the time zone, not of UTC, as the last day', () => {
    expect(textsOfDays('2026-11-21T22:30:00.000Z', 'Europe/Istanbul', 2)).toEqual([
      '2026-11-21 2026-11-20T21:00:00.000Z 2026-11-21T21:00:00.000Z',
      '2026-11-22 2026-11-21T21:00:00.000Z 2026-11-22T21:00:00.000Z',
    ]);
    expect(textsOfDays('2026-11-21T22:30:00.000Z', 'UTC', 1)).toEqual([
      '2026-11-21 2026-11-21T00:00:00.000Z 2026-11-22T00:00:00.000Z',
    ]);
    expect(textsOfDays('2026-11-21T02:30:00.000Z', 'America/New_York', 1)).toEqual([
      '2026-11-20 2026-11-20T05:00:00.000Z 2026-11-21T05:00:00.000Z',
    ]);
  });

  it('returns days of 23 or 25 hours when daylight saving time changes', () => {
    expect(textsOfDays('2026-03-29T12:00:00.000Z', 'Europe/Berlin', 1)).toEqual([
      '2026-03-29 2026-03-28T23:00:00.000Z 2026-03-29T22:00:00.000Z',
    ]);
    expect(textsOfDays('2026-10-25T12:00:00.000Z', 'Europe/Berlin', 1)).toEqual([
      '2026-10-25 2026-10-24T22:00:00.000Z 2026-10-25T23:00:00.000Z',
    ]);
  });

  it('returns a day that starts at 01:00 when the change to daylight saving time skips midnight', () => {
    // Chile, 6 September 2026: 24:00 becomes 01:00.
    expect(textsOfDays('2026-09-06T12:00:00.000Z', 'America/Santiago', 2)).toEqual([
      '2026-09-05 2026-09-05T04:00:00.000Z 2026-09-06T04:00:00.000Z',
      '2026-09-06 2026-09-06T04:00:00.000Z 2026-09-07T03:00:00.000Z',
    ]);
  });

  it('returns days that start at local midnight in a time zone whose offset is not whole hours', () => {
    expect(textsOfDays('2026-11-21T12:00:00.000Z', 'Asia/Kathmandu', 1)).toEqual([
      '2026-11-21 2026-11-20T18:15:00.000Z 2026-11-21T18:15:00.000Z',
    ]);
  });

  it.each(['Europe/Istanbul', 'Pacific/Apia', 'America/Santiago', 'Australia/Lord_Howe', 'UTC'])(
    'returns consecutive days without gap or overlap in %s',
    (zone) => {
      const year = lastLocalDays(new Date('2026-11-21T12:00:00.000Z'), zone, 366);
      for (const [i, { to }] of year.slice(0, -1).entries()) expect(year[i + 1]?.from).toEqual(to);
      expect(new Set(year.map(({ day }) => day)).size).toBe(366);
    },
  );
});

it.each([
  ['Europe/Istanbul', true],
  ['UTC', true],
  ['Nowhere/Town', false],
  ['', false],
])('isTimeZone returns $1 for the time zone name "$0"', (zone, expected) => {
  expect(isTimeZone(zone)).toBe(expected);
});
