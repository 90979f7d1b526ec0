import type { LikelyDuplicate, UserDetails } from '@lamina/contract';
import { type RefObject, useEffect, useState } from 'react';
import { undoButtonMs } from '../../components/announce-action.tsx';

export interface Application {
  readonly user: UserDetails;
  readonly duplicates: readonly LikelyDuplicate[];
}

/**
 * - `approving`: the server has not responded yet; the row shows the application
 * - `approved`: the row says that the applicant was approved
 * - `withdrawn`: the row says that the approval was withdrawn, until the queue contains the applicant again
 */
type Phase = 'approving' | 'approved' | 'withdrawn';

interface KeptRow {
  readonly phase: Phase;
  /** Height of the row in CSS pixels when the approve button was pressed. The shorter text that replaces the application keeps it. */
  readonly height: number;
}

export interface QueueRow extends Application {
  /** Whether the server has not yet responded to the approval of this applicant. */
  readonly isApproving: boolean;
  /** The decision that the row shows instead of the application; null when it shows the application. */
  readonly decided: { readonly phase: 'approved' | 'withdrawn'; readonly height: number } | null;
}

interface QueueRows {
  readonly rows: readonly QueueRow[];
  /**
   * Keeps the row of an applicant in its position, even when the queue no longer contains the applicant.
   *
   * @param phase determines what the row shows
   * @param height height of the row, in CSS pixels
   */
  readonly keepRow: (uid: string, phase: Phase, height: number) => void;
  /** Ends `keepRow`: the row shows the application again, or disappears when the queue no longer contains the applicant. */
  readonly releaseRow: (uid: string) => void;
}

/** How often the list checks whether the rows of decided applicants may be removed. */
const removalCheckMs = 1000;

/**
 * Returns the rows of the queue, including those of applicants that were approved here. Such a row keeps its position and height, so
 * that the rows below do not move under the pointer and a click does not hit another applicant. The rows of decided applicants are
 * removed together as soon as the toast of the last decision has no undo button any more (10 s), the pointer is not over the list and
 * the keyboard focus is not in such a row.
 */
export function useQueueRows(
  applications: readonly Application[],
  list: RefObject<HTMLElement | null>,
): QueueRows {
  const [previousRows, setPreviousRows] = useState(applications);
  const [keptRows, setKeptRows] = useState<ReadonlyMap<string, KeptRow>>(new Map());
  /** As `Date.now()`. */
  const [lastDecisionMs, setLastDecisionMs] = useState(0);

  // While rows are kept, the list continues from the previous rows, in their order: it drops applicants who have left the queue and whose
  // rows are not kept, takes the new data of those who still wait, and appends new applicants. Otherwise it is the queue.
  const waiting = new Map(applications.map((application) => [application.user.uid, application]));
  const remaining = previousRows.filter(({ user: { uid } }) => waiting.has(uid) || keptRows.has(uid));
  const remainingUids = new Set(remaining.map(({ user }) => user.uid));
  const rows =
    keptRows.size === 0
      ? applications
      : [
          ...remaining.map((application) => waiting.get(application.user.uid) ?? application),
          ...applications.filter(({ user }) => !remainingUids.has(user.uid)),
        ];
  const hasChanged =
    rows.length !== previousRows.length || rows.some((row, index) => row !== previousRows[index]);
  // Set during rendering, so that the next rendering continues from these rows; React renders once more, with the same rows.
  if (hasChanged) setPreviousRows(rows);

  useEffect(() => {
    if (keptRows.size === 0) return;
    const timer = setInterval(() => {
      if (Date.now() - lastDecisionMs < undoButtonMs || list.current?.matches(':hover')) return;
      const focused = document.activeElement;
      const isDecidedRowFocused =
        focused?.matches(':focus-visible') && focused.closest('[data-decided]') !== null;
      if (isDecidedRowFocused) return;
      setKeptRows(new Map([...keptRows].filter(([, { phase }]) => phase === 'approving')));
    }, removalCheckMs);
    return () => clearInterval(timer);
  }, [keptRows, lastDecisionMs, list]);

  return {
    rows: rows.map((application) => {
      const { phase = null, height = 0 } = keptRows.get(application.user.uid) ?? {};
      const waitsAgain = phase === 'withdrawn' && waiting.has(application.user.uid);
      const decided = phase === null || phase === 'approving' || waitsAgain ? null : { phase, height };
      return { ...application, isApproving: phase === 'approving', decided };
    }),
    keepRow: (uid, phase, height) => {
      setLastDecisionMs(Date.now());
      setKeptRows((before) => new Map(before).set(uid, { phase, height }));
    },
    releaseRow: (uid) => setKeptRows((before) => new Map([...before].filter(([keptUid]) => keptUid !== uid))),
  };
}
