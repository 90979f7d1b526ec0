import type { UserDetails } from '@lamina/contract';
import { useRef, useState } from 'react';
import { toast } from 'react-toastify';
import { type Decision, decideApplications } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** An applicant for whom the decision (approving or rejecting) failed. */
export interface FailedDecision {
  readonly user: UserDetails;
  /** Why it failed, as a sentence for the user. */
  readonly message: string;
}

interface Progress {
  /** Number of applicants for whom the server has responded, including failures. */
  readonly decidedCount: number;
  readonly total: number;
}

interface DecisionOptions {
  /** The applicants to decide about; not empty. */
  readonly applicants: readonly UserDetails[];
  /** Sends the decision about a single applicant. The toast then names the applicant. */
  readonly decideOne: (uid: string) => Promise<ActionResult>;
  /** Undoes the decision about a single applicant. Without it, and for several applicants, the toast has no undo button. */
  readonly undoOne?: (uid: string) => Promise<ActionResult>;
  /** Returns the message of the toast after a decision about several applicants. */
  readonly successMessage: (count: number) => string;
  /** Called after a run without failures, even if the user stopped it. */
  readonly onDone: () => void;
}

interface RunningDecision {
  /** Decides about all applicants. @param decision sent for several applicants; for a single one, `run` calls `decideOne` instead */
  readonly run: (decision: Decision) => Promise<void>;
  /** Stops before the next call to the server. The applications of the remaining applicants stay pending. */
  readonly stop: () => void;
  readonly isRunning: boolean;
  /** Null unless a decision about several applicants is running. */
  readonly progress: Progress | null;
  /** The failures of the last run. The next run decides about these applicants, and about those whom a stopped run has left out. */
  readonly failedDecisions: readonly FailedDecision[];
}

/** Approves or rejects one or several applicants for a dialog. Returns the progress, and the applicants for whom the decision failed. */
export function useDecision(options: DecisionOptions): RunningDecision {
  const { applicants, decideOne, undoOne, successMessage, onDone } = options;
  const [failedDecisions, setFailedDecisions] = useState<readonly FailedDecision[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopRequested = useRef(false);
  /** Uids of the applicants for whom the decision has succeeded. */
  const decidedUids = useRef<ReadonlySet<string>>(new Set());

  async function runOne(user: UserDetails): Promise<readonly FailedDecision[]> {
    const result = await decideOne(user.uid);
    if (!result.success) return [{ user, message: result.message }];
    announceAction(result, { about: nameOf(user), ...(undoOne && { undo: () => undoOne(user.uid) }) });
    return [];
  }

  async function runMany(
    users: readonly UserDetails[],
    decision: Decision,
  ): Promise<readonly FailedDecision[]> {
    const total = users.length;
    setProgress({ decidedCount: 0, total });
    const { failures, decided: processedCount } = await decideApplications(
      users.map(({ uid }) => uid),
      decision,
      (decidedCount) => setProgress({ decidedCount, total }),
      () => isStopRequested.current,
    );
    setProgress(null);
    const newUids = users.slice(0, processedCount).flatMap(({ uid }) => (failures.has(uid) ? [] : [uid]));
    decidedUids.current = new Set([...decidedUids.current, ...newUids]);
    if (newUids.length > 0) toast.success(successMessage(newUids.length));
    return users.flatMap((user) => {
      const message = failures.get(user.uid);
      return message === undefined ? [] : [{ user, message }];
    });
  }

  return {
    run: async (decision) => {
      const undecidedApplicants = applicants.filter(({ uid }) => !decidedUids.current.has(uid));
      const [onlyApplicant] = applicants.length === 1 ? applicants : []; // undefined for several applicants
      isStopRequested.current = false;
      setRunning(true);
      const newFailures =
        onlyApplicant !== undefined
          ? await runOne(onlyApplicant)
          : await runMany(undecidedApplicants, decision);
      setRunning(false);
      setFailedDecisions(newFailures);
      if (newFailures.length === 0) onDone();
    },
    stop: () => {
      isStopRequested.current = true;
    },
    isRunning,
    progress,
    failedDecisions,
  };
}
