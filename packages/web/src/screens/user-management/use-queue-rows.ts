import type { LikelyDuplicate, UserDetails } from '@lamina/contract';
import { type RefObject, useEffect, useState } from 'react';
import { undoButtonMs } from '../../components/announce-action.tsx';

/** An applicant who waits for approval. */
export interface Application {
  readonly user: UserDetails;
  /** Accounts that may belong to the same person. */
  readonly duplicates: readonly LikelyDuplicate[];
}

/**
 * What happened to an applicant whose row stays in the list after the approve button was pressed:
 *
 * - `approving`: the server has not responded yet; the row shows the application
 * - `approved`: the row says that the applicant was approved
 * - `withdrawn`: the row says that the approval was withdrawn, until the queue contains the applicant again
 */
type Phase = 'approving' | 'approved' | 'withdrawn';

/** A row that stays in the list although the queue may no longer contain the applicant. */
interface KeptRow {
  readonly phase: Phase;
  /** Height of the row in CSS pixels when the approve button was pressed. The row keeps it when a shorter text replaces the application. */
  readonly height: number;
}

export interface QueueRow extends Application {
  /** Whether the call that approves this applicant is running. */
  readonly isApproving: boolean;
  /** The decision that the row shows instead of the application; null when it shows the application. `height` is in CSS pixels. */
  readonly decision: { readonly phase: 'approved' | 'withdrawn'; readonly height: number } | null;
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
 * Returns the rows of the queue, including those of applicants whom the administrator has just approved. Such a row keeps its position and
 * height, because a click could hit the wrong applicant if the rows below moved under the pointer. The list removes these rows together as
 * soon as three conditions hold: the undo button of the last decision has disappeared (after 10 s), the pointer is not over the list, and
 * the keyboard focus is not in one of these rows.
 */
export function useQueueRows(
  applications: readonly Application[],
  list: RefObject<HTMLElement | null>,
): QueueRows {
  const [previousRows, setPreviousRows] = useState(applications);
  const [keptRows, setKeptRows] = useState<ReadonlyMap<string, KeptRow>>(new Map());
  /** Time of the last decision, as `Date.now()`. */
  const [lastDecisionMs, setLastDecisionMs] = useState(0);

  // Without kept rows, the list shows the queue. With kept rows, it shows the previous rows in the same order: without applicants who
  // have left the queue and whose rows are not kept, with current data of those who still wait, and with new applicants at the end.
  const waitingByUid = new Map(applications.map((application) => [application.user.uid, application]));
  const remainingRows = previousRows.filter(
    ({ user: { uid } }) => waitingByUid.has(uid) || keptRows.has(uid),
  );
  const remainingUids = new Set(remainingRows.map(({ user }) => user.uid));
  const rows =
    keptRows.size === 0
      ? applications
      : [
          ...remainingRows.map((application) => waitingByUid.get(application.user.uid) ?? application),
          ...applications.filter(({ user }) => !remainingUids.has(user.uid)),
        ];
  const hasChanged =
    rows.length !== previousRows.length || rows.some((row, index) => row !== previousRows[index]);
  // Set during rendering, so that the next rendering continues from these rows. React then renders once more, with the same rows.
  if (hasChanged) setPreviousRows(rows);

  useEffect(() => {
    if (keptRows.size === 0) return;
    const timer = setInterval(() => {
      if (Date.now() - lastDecisionMs < undoButtonMs || list.current?.matches(':hover')) return;
      const focusedElement = document.activeElement;
      const isDecidedRowFocused =
        focusedElement?.matches(':focus-visible') && focusedElement.closest('[data-decided]') !== null;
      if (isDecidedRowFocused) return;
      setKeptRows(new Map([...keptRows].filter(([, { phase }]) => phase === 'approving')));
    }, removalCheckMs);
    return () => clearInterval(timer);
  }, [keptRows, lastDecisionMs, list]);

  return {
    rows: rows.map((application) => {
      const { phase = null, height = 0 } = keptRows.get(application.user.uid) ?? {};
      const waitsAgain = phase === 'withdrawn' && waitingByUid.has(application.user.uid);
      const showsApplication = phase === null || phase === 'approving' || waitsAgain;
      const decision = showsApplication ? null : { phase, height };
      return { ...application, isApproving: phase === 'approving', decision };
    }),
    keepRow: (uid, phase, height) => {
      setLastDecisionMs(Date.now());
      setKeptRows((before) => new Map(before).set(uid, { phase, height }));
    },
    releaseRow: (uid) => setKeptRows((before) => new Map([...before].filter(([keptUid]) => keptUid !== uid))),
  };
}
