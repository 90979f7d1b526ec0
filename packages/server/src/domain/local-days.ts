/** Computes the start and the end of calendar days in a time zone, for statistics by day. */

export interface LocalDay {
  /** Date as in '2026-11-21'. */
  readonly day: string;
  /** Start of the day. */
  readonly from: Date;
  /** Start of the next day: usually 24 hours after `from`; 23 or 25 when daylight saving time begins or ends. */
  readonly to: Date;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Whether the zone is in the IANA time zone database. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the constructor throws a RangeError for an unknown zone
  }
}

/** Returns the last `count` days in the time zone, oldest first. The last one is the day that contains `now`. */
export function lastLocalDays(now: Date, zone: string, count: number): LocalDay[] {
  const offsetMs = offsetsOf(zone);
  // Days are numbered from 1970-01-01.
  const today = Math.floor((now.getTime() + offsetMs(now.getTime())) / dayMs);
  const firstDay = today - count + 1;
  const starts = Array.from({ length: count + 1 }, (_, i) => startOf(firstDay + i, offsetMs));
  return starts.slice(0, count).map((from, i) => ({
    day: new Date((firstDay + i) * dayMs).toISOString().slice(0, 10),
    from: new Date(from),
    to: new Date(starts[i + 1] ?? from), // `?? from` only satisfies the type
  }));
}

/** Returns the start of a local day in milliseconds since the epoch. @param day number of days since 1970-01-01 */
function startOf(day: number, offsetMs: (at: number) => number): number {
  const localMidnight = day * dayMs;
  // The UTC time of midnight is `localMidnight` minus the offset at that time, which is not known yet. So the time is estimated
  // twice, each time with the offset at the previous estimate.
  const estimate = localMidnight - offsetMs(localMidnight - offsetMs(localMidnight));
  // Where a clock change skips midnight, the estimate is before the change. The day starts at the change, later than 00:00.
  const isBeforeMidnight = estimate + offsetMs(estimate) < localMidnight;
  return isBeforeMidnight ? localMidnight - offsetMs(estimate) : estimate;
}

/** Returns a function that gives the zone's offset from UTC (east: positive) at a time; both in milliseconds. */
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
    const localTime = Date.UTC(year, month - 1, day, hour, minute, second);
    const utcTime = Math.floor(at / 1000) * 1000; // the parts contain whole seconds
    return Math.round((localTime - utcTime) / minuteMs) * minuteMs;
  };
}
