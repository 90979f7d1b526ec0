/** Computes the start and the end of calendar days in a time zone. */

export interface LocalDay {
  /** Date as in '2026-11-21'. */
  readonly day: string;
  /** Start of the day and of the next one. A day has 23 or 25 hours when daylight saving time changes. */
  readonly from: Date;
  readonly to: Date;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Whether the zone is in the IANA time zone database. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Returns the last `count` days including the one of `now`, oldest first. */
export function lastLocalDays(now: Date, zone: string, count: number): LocalDay[] {
  const offsetMs = offsetsOf(zone);
  const today = Math.floor((now.getTime() + offsetMs(now.getTime())) / dayMs);
  const starts = Array.from({ length: count + 1 }, (_, i) => startOf(today - count + 1 + i, offsetMs));
  return starts.slice(0, count).map((from, i) => ({
    day: new Date((today - count + 1 + i) * dayMs).toISOString().slice(0, 10),
    from: new Date(from),
    to: new Date(starts[i + 1] ?? from),
  }));
}

/** Returns the start of a local day in milliseconds since the epoch. @param day number of days since 1970-01-01 */
function startOf(day: number, offsetMs: (at: number) => number): number {
  const midnight = day * dayMs;
  // A clock change can give midnight two offsets. Where the change skips midnight, the day starts later than 00:00.
  const guess = midnight - offsetMs(midnight - offsetMs(midnight));
  return guess + offsetMs(guess) < midnight ? midnight - offsetMs(guess) : guess;
}

/** Returns a function that gives the offset of the zone from UTC at a time, in milliseconds. */
function offsetsOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const local = Date.UTC(year, month - 1, day, hour, minute, second);
    return Math.round((local - Math.floor(at / 1000) * 1000) / minuteMs) * minuteMs;
  };
}
