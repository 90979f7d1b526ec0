/**
 * Limits the audit entries that refused requests write. The first refusal of a kind by an account, or by a network without
 * sign-in, gets an entry in each minute; repetitions are counted and summed up in one entry.
 */

/** The subject of a refusal: an account, or a network without sign-in. */
export interface Refused {
  /** Null without a sign-in. */
  readonly actor: string | null;
  readonly network: string;
}

export interface RefusalSummary {
  /** Null without a sign-in, and for several accounts together. */
  readonly actor: string | null;
  /** Null for several networks together. */
  readonly network: string | null;
  readonly count: number;
  /** Count of each kind, the most frequent first. */
  readonly kinds: readonly (readonly [kind: string, count: number])[];
  readonly first: Date;
  readonly last: Date;
}

export interface RefusalLogLimit {
  /**
   * Returns whether this refusal gets an entry; otherwise it is counted.
   *
   * @param kind the refused action and the reason
   * @param target separates refusals of one kind that each deserve an entry, such as sign-ins to different accounts
   */
  take(refused: Refused, kind: string, at: Date, target?: string): boolean;
  /** Returns the counts of minutes before this time, once. */
  due(at: Date): RefusalSummary[];
  /** Returns all counts that were not returned yet, including the current minute. */
  rest(): RefusalSummary[];
}

const minuteMs = 60_000;
/** Limits of separate entries: per account or network and minute, in all per minute, in all per hour. */
const perSubject = 20;
const perMinute = 120;
const perHour = 1200;
const minutesOfAnHour = 60;
/** Above these, subjects are counted together, so that neither memory nor the audit log grows with their number. */
const mostSubjects = 2000;
const mostSummaries = 5;
const mostKinds = 50;

interface Counted extends Refused {
  /** Kinds and targets that have an entry. */
  readonly written: Set<string>;
  readonly kinds: Map<string, number>;
  first: Date;
  last: Date;
}

export function createRefusalLogLimit(): RefusalLogLimit {
  let minute = Number.NaN;
  let written = 0;
  let hour = Number.NaN;
  let writtenInHour = 0;
  let bySubject = new Map<string | null, Counted>();
  let ended: RefusalSummary[] = [];

  function startMinute(now: number): void {
    const counted = [...bySubject.entries()].filter(([, { kinds }]) => kinds.size > 0);
    const isTooMany = counted.length > mostSummaries;
    if (isTooMany)
      ended.push(
        sumUp(
          counted.map(([, each]) => each),
          { actor: null, network: null },
        ),
      );
    else for (const [key, each] of counted) ended.push(sumUp([each], key === null ? together : each));
    minute = now;
    written = 0;
    bySubject = new Map();
    const hourNow = Math.floor(now / minutesOfAnHour);
    if (hourNow === hour) return;
    hour = hourNow;
    writtenInHour = 0;
  }

  function takeEnded(): RefusalSummary[] {
    const summaries = ended;
    ended = [];
    return summaries;
  }

  return {
    take({ actor, network }, kind, at, target = '') {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) startMinute(now);
      const subject = actor ?? network;
      const key = bySubject.has(subject) || bySubject.size < mostSubjects ? subject : null;
      const counted: Counted = bySubject.get(key) ?? {
        actor,
        network,
        written: new Set(),
        kinds: new Map(),
        first: at,
        last: at,
      };
      bySubject.set(key, counted);
      const entryKey = `${kind} ${target}`;
      const isAllowed = counted.written.size < perSubject && written < perMinute && writtenInHour < perHour;
      if (key !== null && isAllowed && !counted.written.has(entryKey)) {
        counted.written.add(entryKey);
        written++;
        writtenInHour++;
        return true;
      }
      if (counted.kinds.size === 0) counted.first = at;
      counted.last = at;
      const countedKind = counted.kinds.has(kind) || counted.kinds.size < mostKinds ? kind : 'else';
      counted.kinds.set(countedKind, (counted.kinds.get(countedKind) ?? 0) + 1);
      return false;
    },

    due(at) {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) startMinute(now);
      return takeEnded();
    },

    rest() {
      startMinute(minute);
      return takeEnded();
    },
  };
}

const together = { actor: null, network: null };

function sumUp(
  counted: readonly Counted[],
  { actor, network }: Pick<RefusalSummary, 'actor' | 'network'>,
): RefusalSummary {
  const kinds = new Map<string, number>();
  for (const each of counted) {
    for (const [kind, count] of each.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  return {
    actor,
    network,
    count: [...kinds.values()].reduce((sum, count) => sum + count, 0),
    kinds: [...kinds].sort(([, a], [, b]) => b - a),
    first: new Date(Math.min(...counted.map(({ first }) => first.getTime()))),
    last: new Date(Math.max(...counted.map(({ last }) => last.getTime()))),
  };
}
