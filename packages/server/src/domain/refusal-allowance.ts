/**
 * How much a stranger may write into the audit trail: the first refusals of each minute and address have entries of
 * their own; those beyond are counted, and told together in one.
 */

export interface SummedUp {
  /** Null for several addresses together. */
  readonly address: string | null;
  readonly count: number;
  /** How often each kind was, the most frequent first. */
  readonly kinds: readonly (readonly [kind: string, count: number])[];
}

export interface RefusalAllowance {
  /**
   * Whether this refusal gets an entry of its own; else it is counted.
   *
   * @param isCommon of a kind that happens to anybody whose sign-in has ended: fewer of them are worth a line
   */
  take(address: string, kind: string, at: Date, isCommon?: boolean): boolean;
  /** What was counted in minutes that are over at this time; told once. */
  due(at: Date): SummedUp[];
  /** What has been counted and not been told yet, the minute that is running included. */
  rest(): SummedUp[];
}

const minuteMs = 60_000;
const perAddress = 20;
const commonPerAddress = 5;
const perMinute = 120;
const minutesOfAnHour = 60;
const perHour = 1200;
/** Beyond these, addresses are counted together: neither memory nor the trail grows with their number. */
const mostAddresses = 2000;
const mostSummaries = 5;
const mostKinds = 50;

interface Counted {
  own: number;
  readonly kinds: Map<string, number>;
}

export function createRefusalAllowance(): RefusalAllowance {
  let minute = Number.NaN;
  let written = 0;
  let hour = Number.NaN;
  let writtenInHour = 0;
  let byAddress = new Map<string | null, Counted>();
  let ended: SummedUp[] = [];

  function begin(now: number): void {
    const counted = [...byAddress].filter(([, { kinds }]) => kinds.size > 0);
    ended.push(
      ...(counted.length > mostSummaries
        ? [
            summedUp(
              null,
              counted.map(([, each]) => each),
            ),
          ]
        : counted.map(([address, each]) => summedUp(address, [each]))),
    );
    minute = now;
    written = 0;
    byAddress = new Map();
    const hourNow = Math.floor(now / minutesOfAnHour);
    if (hourNow === hour) return;
    hour = hourNow;
    writtenInHour = 0;
  }

  function tell(): SummedUp[] {
    const told = ended;
    ended = [];
    return told;
  }

  return {
    take(address, kind, at, isCommon = false) {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) begin(now);
      const key = byAddress.has(address) || byAddress.size < mostAddresses ? address : null;
      const counted: Counted = byAddress.get(key) ?? { own: 0, kinds: new Map() };
      byAddress.set(key, counted);
      const most = isCommon ? commonPerAddress : perAddress;
      const isAllowed = counted.own < most && written < perMinute && writtenInHour < perHour;
      if (key !== null && isAllowed) {
        counted.own++;
        written++;
        writtenInHour++;
        return true;
      }
      const known = counted.kinds.has(kind) || counted.kinds.size < mostKinds ? kind : 'else';
      counted.kinds.set(known, (counted.kinds.get(known) ?? 0) + 1);
      return false;
    },

    due(at) {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) begin(now);
      return tell();
    },

    rest() {
      begin(minute);
      return tell();
    },
  };
}

function summedUp(address: string | null, counted: readonly Counted[]): SummedUp {
  const kinds = new Map<string, number>();
  for (const each of counted) {
    for (const [kind, count] of each.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  return {
    address,
    count: [...kinds.values()].reduce((sum, count) => sum + count, 0),
    kinds: [...kinds].sort(([, a], [, b]) => b - a),
  };
}
