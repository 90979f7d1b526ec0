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
  readonly people: readonly UserDetails[];
  /** Sends the decision when `people` contains one person. The toast then names the user. */
  readonly decideOne: (uid: string) => Promise<ActionResult>;
  /** Undoes the decision. The toast offers this only when `people` contains one person. */
  readonly undoOne?: (uid: string) => Promise<ActionResult>;
  /** Returns the message of the toast after a decision about several people. */
  readonly successMessage: (count: number) => string;
  /** Called after a run without failures, even if the user stopped it. */
  readonly onDone: () => void;
}

interface RunningDecision {
  /** @param decision what the server receives when `people` contains several people; for one person, `decideOne` replaces it */
  readonly run: (decision: Decision) => Promise<void>;
  /** Stops before the next call to the server. The applications of the remaining people stay pending. */
  readonly stop: () => void;
  readonly isRunning: boolean;
  /** Null unless a decision about several people is running. */
  readonly progress: Progress | null;
  /** People for whom the last run failed. The next run retries these, and decides about those whom a stopped run has left out. */
  readonly failedDecisions: readonly FailedDecision[];
}

/** Approves or rejects one or several applicants for a dialog, and returns the progress and the people for whom it failed. */
export function useDecision(options: DecisionOptions): RunningDecision {
  const { people, decideOne, undoOne, successMessage, onDone } = options;
  const [failedDecisions, setFailedDecisions] = useState<readonly FailedDecision[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopRequested = useRef(false);
  /** Uids of the people for whom the decision has succeeded. */
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
    const { failures, decided } = await decideApplications(
      users.map(({ uid }) => uid),
      decision,
      (decidedCount) => setProgress({ decidedCount, total }),
      () => isStopRequested.current,
    );
    setProgress(null);
    const newUids = users.slice(0, decided).flatMap(({ uid }) => (failures.has(uid) ? [] : [uid]));
    decidedUids.current = new Set([...decidedUids.current, ...newUids]);
    if (newUids.length > 0) toast.success(successMessage(newUids.length));
    return users.flatMap((user) => {
      const message = failures.get(user.uid);
      return message === undefined ? [] : [{ user, message }];
    });
  }

  return {
    run: async (decision) => {
      const peopleToDecide = people.filter(({ uid }) => !decidedUids.current.has(uid));
      const [onlyPerson] = people.length === 1 ? people : []; // undefined for several people
      isStopRequested.current = false;
      setRunning(true);
      const newFailures =
        onlyPerson !== undefined ? await runOne(onlyPerson) : await runMany(peopleToDecide, decision);
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
