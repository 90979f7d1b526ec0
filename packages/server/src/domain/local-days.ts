/** Calendar days as people in a time zone count them. */

export interface LocalDay {
  /** '2026-11-21' */
  readonly day: string;
  /** When it begins, and when the next one does. A day is 23 or 25 hours long where clocks change. */
  readonly from: Date;
  readonly to: Date;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Whether the zone is one of the IANA time zone database, as browsers name them. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The last days up to the one that `now` lies in, oldest first. */
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

/** @param day days since 1970-01-01 */
function startOf(day: number, offsetMs: (at: number) => number): number {
  const midnight = day * dayMs;
  // As far from UTC as just before and just behind it: where clocks change at midnight, the day begins later.
  const guess = midnight - offsetMs(midnight - offsetMs(midnight));
  return guess + offsetMs(guess) < midnight ? midnight - offsetMs(guess) : guess;
}

/** How far the zone's clocks are ahead of UTC at a time. */
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
