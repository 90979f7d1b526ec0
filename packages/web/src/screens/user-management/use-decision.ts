import type { UserDetails } from '@lamina/contract';
import { useRef, useState } from 'react';
import { toast } from 'react-toastify';
import { type Decision, decideApplications } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** A person about whom the decision failed. */
export interface UndecidedPerson {
  readonly user: UserDetails;
  /** Why it failed, as a sentence for the user. */
  readonly message: string;
}

interface Progress {
  /** Number of people about whom the server has responded, including failures. */
  readonly decided: number;
  readonly total: number;
}

interface DecisionOptions {
  /** Not empty. */
  readonly people: readonly UserDetails[];
  /** Sends the decision when `people` contains one person only; the toast then names the person. */
  readonly decideOne: (uid: string) => Promise<ActionResult>;
  /** Undoes the decision; offered only when `people` contains one person. */
  readonly undoOne?: (uid: string) => Promise<ActionResult>;
  /** Returns the message of the toast after a decision about several people. */
  readonly successMessage: (count: number) => string;
  /** Called after a decision without failures, also when it was stopped. */
  readonly onDone: () => void;
}

interface RunningDecision {
  /** @param decision sent when `people` contains several people; for one person, `decideOne` sends its own */
  readonly run: (decision: Decision) => Promise<void>;
  /** Stops before the next call to the server; the people of later calls stay undecided. */
  readonly stop: () => void;
  readonly isRunning: boolean;
  /** Null unless a decision about several people is running. */
  readonly progress: Progress | null;
  /** People about whom the last run failed; the next run decides about these only. */
  readonly undecidedPeople: readonly UndecidedPerson[];
}

/** Runs a decision about one or several people, and returns its progress and the people about whom it failed. */
export function useDecision(options: DecisionOptions): RunningDecision {
  const { people, decideOne, undoOne, successMessage, onDone } = options;
  const [undecidedPeople, setUndecidedPeople] = useState<readonly UndecidedPerson[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopRequested = useRef(false);

  async function runOne(user: UserDetails): Promise<readonly UndecidedPerson[]> {
    const result = await decideOne(user.uid);
    if (!result.success) return [{ user, message: result.message }];
    announceAction(result, { about: nameOf(user), ...(undoOne && { undo: () => undoOne(user.uid) }) });
    return [];
  }

  async function runMany(
    users: readonly UserDetails[],
    decision: Decision,
  ): Promise<readonly UndecidedPerson[]> {
    const total = users.length;
    setProgress({ decided: 0, total });
    const { failures, decided } = await decideApplications(
      users.map(({ uid }) => uid),
      decision,
      (count) => setProgress({ decided: count, total }),
      () => isStopRequested.current,
    );
    setProgress(null);
    const successCount = decided - failures.size;
    if (successCount > 0) toast.success(successMessage(successCount));
    return users.flatMap((user) => {
      const message = failures.get(user.uid);
      return message === undefined ? [] : [{ user, message }];
    });
  }

  return {
    run: async (decision) => {
      // After a run with failures, only the people about whom it failed.
      const remaining = undecidedPeople.length > 0 ? undecidedPeople.map(({ user }) => user) : people;
      const [onlyPerson] = people.length === 1 ? people : []; // undefined for several people
      isStopRequested.current = false;
      setRunning(true);
      const failedPeople =
        onlyPerson !== undefined ? await runOne(onlyPerson) : await runMany(remaining, decision);
      setRunning(false);
      setUndecidedPeople(failedPeople);
      if (failedPeople.length === 0) onDone();
    },
    stop: () => {
      isStopRequested.current = true;
    },
    isRunning,
    progress,
    undecidedPeople,
  };
}
