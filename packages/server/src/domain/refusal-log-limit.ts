/**
 * Limits the audit entries about refused requests, so that a client cannot flood the audit log. In each minute, the
 * first refusal of each kind and target to an account (without sign-in: to a network) gets its own entry, within the
 * maximum numbers below. All other refusals get no entry of their own: this module counts them, and the caller later
 * writes the counts as summary entries.
 */

/** The client of a refused request. Refusals are counted by its account, or by its network if it is not signed in. */
export interface RefusedRequester {
  /** Uid of the account; null if there is no sign-in. */
  readonly actor: string | null;
  /** See `networkOf`. */
  readonly network: string;
}

export interface RefusalSummary {
  /** Uid of the account; null if there is no sign-in, and when the summary covers several accounts. */
  readonly actor: string | null;
  /** Null when the summary covers several networks. */
  readonly network: string | null;
  /** Number of refusals of all kinds. */
  readonly count: number;
  /** Number of refusals of each kind, the most frequent kind first. */
  readonly kinds: readonly (readonly [kind: string, count: number])[];
  /** Times of the first and the last refusal in the summary. */
  readonly first: Date;
  readonly last: Date;
}

export interface RefusalLogLimit {
  /**
   * Counts a refusal. Returns true when the caller must write a separate entry for it; false when a summary will cover it.
   *
   * @param kind the refused action and the reason for the refusal
   * @param target the object of the action, such as the account of a sign-in
   */
  count(refused: RefusedRequester, kind: string, at: Date, target?: string): boolean;
  /** Returns the summaries of the minutes that ended before `at`. Each summary is returned once. */
  takeEndedSummaries(at: Date): RefusalSummary[];
  /** Returns all summaries that were not returned yet, including those of the current minute. Called by a timer and at shutdown. */
  takeAllSummaries(): RefusalSummary[];
}

const minuteMs = 60_000;
/** Maximum number of separate entries. A subject is an account or a network. */
const maxEntriesPerSubjectAndMinute = 20;
const maxEntriesPerMinute = 120;
const maxEntriesPerHour = 1200;
const minutesPerHour = 60;
/** Subjects above this number in a minute are counted together, so that memory stays bounded. */
const maxSubjects = 2000;
/** If more subjects than this need a summary for a minute, one summary covers all of them. */
const maxSummaries = 5;
/** Kinds above this number for one subject in a minute are counted as the kind `else`. */
const maxKinds = 50;

/** Refusals of one subject in the current minute. */
interface SubjectCount extends RefusedRequester {
  /** Kind and target of the refusals that got a separate entry. */
  readonly entryKeys: Set<string>;
  /** Number of refusals without a separate entry, by kind. */
  readonly kinds: Map<string, number>;
  /** Times of the first and the last refusal without a separate entry. */
  first: Date;
  last: Date;
}

export function createRefusalLogLimit(): RefusalLogLimit {
  /** Minutes since the epoch; NaN before the first refusal. */
  let currentMinute = Number.NaN;
  let entriesInMinute = 0;
  /** Hours since the epoch; NaN before the first refusal. */
  let currentHour = Number.NaN;
  let entriesInHour = 0;
  /** Counts by account or network. All subjects above `maxSubjects` share the key null. */
  let countsBySubject = new Map<string | null, SubjectCount>();
  let endedSummaries: RefusalSummary[] = [];

  /** Turns the counts into summaries and starts counting for another minute. */
  function startMinute(minute: number): void {
    const subjectsToSummarise = [...countsBySubject.entries()].filter(([, { kinds }]) => kinds.size > 0);
    if (subjectsToSummarise.length > maxSummaries) {
      const subjectCounts = subjectsToSummarise.map(([, subjectCount]) => subjectCount);
      endedSummaries.push(summarise(subjectCounts, severalSubjects));
    } else {
      for (const [key, subjectCount] of subjectsToSummarise)
        endedSummaries.push(summarise([subjectCount], key === null ? severalSubjects : subjectCount));
    }
    currentMinute = minute;
    entriesInMinute = 0;
    countsBySubject = new Map();
    const hour = Math.floor(minute / minutesPerHour);
    if (hour === currentHour) return;
    currentHour = hour;
    entriesInHour = 0;
  }

  /** Returns the summaries of ended minutes and forgets them, so that each one is returned once. */
  function drainSummaries(): RefusalSummary[] {
    const summaries = endedSummaries;
    endedSummaries = [];
    return summaries;
  }

  return {
    count({ actor, network }, kind, at, target = '') {
      const minute = Math.floor(at.getTime() / minuteMs);
      if (minute !== currentMinute) startMinute(minute);
      const subject = actor ?? network;
      const key = countsBySubject.has(subject) || countsBySubject.size < maxSubjects ? subject : null;
      const subjectCount: SubjectCount = countsBySubject.get(key) ?? {
        actor,
        network,
        entryKeys: new Set(),
        kinds: new Map(),
        first: at,
        last: at,
      };
      countsBySubject.set(key, subjectCount);

      const entryKey = `${kind} ${target}`;
      const isBelowLimits =
        subjectCount.entryKeys.size < maxEntriesPerSubjectAndMinute &&
        entriesInMinute < maxEntriesPerMinute &&
        entriesInHour < maxEntriesPerHour;
      if (key !== null && isBelowLimits && !subjectCount.entryKeys.has(entryKey)) {
        subjectCount.entryKeys.add(entryKey);
        entriesInMinute++;
        entriesInHour++;
        return true;
      }

      const { kinds } = subjectCount;
      if (kinds.size === 0) subjectCount.first = at;
      subjectCount.last = at;
      const countedKind = kinds.has(kind) || kinds.size < maxKinds ? kind : 'else';
      kinds.set(countedKind, (kinds.get(countedKind) ?? 0) + 1);
      return false;
    },

    takeEndedSummaries(at) {
      const minute = Math.floor(at.getTime() / minuteMs);
      if (minute !== currentMinute) startMinute(minute);
      return drainSummaries();
    },

    takeAllSummaries() {
      startMinute(currentMinute); // ends the current minute early
      return drainSummaries();
    },
  };
}

/** The client of a summary that covers several accounts or networks. */
const severalSubjects = { actor: null, network: null };

/** Returns one summary of all these counts. */
function summarise(
  counts: readonly SubjectCount[],
  { actor, network }: Pick<RefusalSummary, 'actor' | 'network'>,
): RefusalSummary {
  const kinds = new Map<string, number>();
  for (const subjectCount of counts) {
    for (const [kind, count] of subjectCount.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  return {
    actor,
    network,
    count: [...kinds.values()].reduce((sum, count) => sum + count, 0),
    kinds: [...kinds].sort(([, a], [, b]) => b - a),
    first: new Date(Math.min(...counts.map(({ first }) => first.getTime()))),
    last: new Date(Math.max(...counts.map(({ last }) => last.getTime()))),
  };
}
