/**
 * Limits the audit entries that refused requests write, so that a client cannot flood the audit log. In each minute, the first
 * refusal of a kind by an account (without sign-in: by a network) gets its own entry. Repetitions are only counted; after the
 * minute the caller writes the counts as one summary entry.
 */

/** The subject of a refusal: the signed-in account, or the network when there is no sign-in. */
export interface RefusedRequester {
  /** Uid of the account; null without a sign-in. */
  readonly actor: string | null;
  readonly network: string;
}

export interface RefusalSummary {
  /** Uid of the account; null without a sign-in, and when the summary covers several accounts. */
  readonly actor: string | null;
  /** Null when the summary covers several networks. */
  readonly network: string | null;
  readonly count: number;
  /** Number of refusals of each kind, the most frequent kind first. */
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
  take(refused: RefusedRequester, kind: string, at: Date, target?: string): boolean;
  /** Returns the summaries of the minutes that ended before this time. Each summary is returned once. */
  takeEnded(at: Date): RefusalSummary[];
  /** Returns all summaries that were not returned yet, including that of the current minute. Called when the summary timer fires and at shutdown. */
  takeAll(): RefusalSummary[];
}

const minuteMs = 60_000;
/** Maximum number of separate entries: of one subject in a minute, of all subjects in a minute, and in an hour. */
const maxEntriesPerSubject = 20;
const maxEntriesPerMinute = 120;
const maxEntriesPerHour = 1200;
const minutesOfAnHour = 60;
/** Above these numbers, subjects and kinds are counted together: memory and the audit log stay bounded. */
const maxSubjects = 2000;
const maxSummaries = 5;
const maxKinds = 50;

/** What is known of one subject in the current minute. */
interface SubjectCount extends RefusedRequester {
  /** Pairs of kind and target that have an entry of their own. */
  readonly written: Set<string>;
  /** Number of refusals without an entry, by kind. */
  readonly kinds: Map<string, number>;
  first: Date;
  last: Date;
}

export function createRefusalLogLimit(): RefusalLogLimit {
  /** Current minute and hour, counted from the epoch; NaN before the first refusal. */
  let minute = Number.NaN;
  let entriesInMinute = 0;
  let hour = Number.NaN;
  let entriesInHour = 0;
  /** Counts by account or network; those above the limit share the key null. */
  let bySubject = new Map<string | null, SubjectCount>();
  let endedSummaries: RefusalSummary[] = [];

  function startMinute(now: number): void {
    const counted = [...bySubject.entries()].filter(([, { kinds }]) => kinds.size > 0);
    const isTooMany = counted.length > maxSummaries;
    if (isTooMany)
      endedSummaries.push(
        sumUp(
          counted.map(([, each]) => each),
          severalSubjects,
        ),
      );
    else
      for (const [key, each] of counted)
        endedSummaries.push(sumUp([each], key === null ? severalSubjects : each));
    minute = now;
    entriesInMinute = 0;
    bySubject = new Map();
    const hourNow = Math.floor(now / minutesOfAnHour);
    if (hourNow === hour) return;
    hour = hourNow;
    entriesInHour = 0;
  }

  function takeEndedSummaries(): RefusalSummary[] {
    const summaries = endedSummaries;
    endedSummaries = [];
    return summaries;
  }

  return {
    take({ actor, network }, kind, at, target = '') {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) startMinute(now);
      const subject = actor ?? network;
      const key = bySubject.has(subject) || bySubject.size < maxSubjects ? subject : null;
      const counted: SubjectCount = bySubject.get(key) ?? {
        actor,
        network,
        written: new Set(),
        kinds: new Map(),
        first: at,
        last: at,
      };
      bySubject.set(key, counted);
      const entryKey = `${kind} ${target}`;
      const isAllowed =
        counted.written.size < maxEntriesPerSubject &&
        entriesInMinute < maxEntriesPerMinute &&
        entriesInHour < maxEntriesPerHour;
      if (key !== null && isAllowed && !counted.written.has(entryKey)) {
        counted.written.add(entryKey);
        entriesInMinute++;
        entriesInHour++;
        return true;
      }
      if (counted.kinds.size === 0) counted.first = at;
      counted.last = at;
      const countedKind = counted.kinds.has(kind) || counted.kinds.size < maxKinds ? kind : 'else';
      counted.kinds.set(countedKind, (counted.kinds.get(countedKind) ?? 0) + 1);
      return false;
    },

    takeEnded(at) {
      const now = Math.floor(at.getTime() / minuteMs);
      if (now !== minute) startMinute(now);
      return takeEndedSummaries();
    },

    takeAll() {
      startMinute(minute);
      return takeEndedSummaries();
    },
  };
}

const severalSubjects = { actor: null, network: null };

function sumUp(
  counted: readonly SubjectCount[],
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
