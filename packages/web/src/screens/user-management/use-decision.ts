import type { UserDetails } from '@lamina/contract';
import { useRef, useState } from 'react';
import { toast } from 'react-toastify';
import { type Decision, decideApplications } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** A person about whom the call failed, and the reason. */
export interface Undecided {
  readonly user: UserDetails;
  readonly message: string;
}

interface Progress {
  readonly decided: number;
  readonly total: number;
}

interface DecisionOptions {
  /** One or several. */
  readonly people: readonly UserDetails[];
  /** The call when `people` is one person; the toast then names the person. */
  readonly decideOne: (uid: string) => Promise<ActionResult>;
  /** Restores one person's account; offered when the decision was about one person. */
  readonly undoOne?: (uid: string) => Promise<ActionResult>;
  /** The toast for a number of people. */
  readonly done: (count: number) => string;
  /** After a decision without failures, or one that was stopped. */
  readonly onDone: () => void;
}

interface RunningDecision {
  readonly run: (decision: Decision) => Promise<void>;
  /** Leaves the people undecided who have not been sent yet. */
  readonly stop: () => void;
  readonly isRunning: boolean;
  /** Null unless a decision about several people is running. */
  readonly progress: Progress | null;
  /** Of the last run; the next run is about these people alone. */
  readonly undecided: readonly Undecided[];
}

/** A decision about one or several people, with its progress and the people about whom it failed. */
export function useDecision({ people, decideOne, undoOne, done, onDone }: DecisionOptions): RunningDecision {
  const [undecided, setUndecided] = useState<readonly Undecided[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopped = useRef(false);

  async function runOne(user: UserDetails): Promise<readonly Undecided[]> {
    const result = await decideOne(user.uid);
    if (!result.success) return [{ user, message: result.message }];
    announceAction(result, { about: nameOf(user), ...(undoOne && { undo: () => undoOne(user.uid) }) });
    return [];
  }

  async function runMany(several: readonly UserDetails[], decision: Decision): Promise<readonly Undecided[]> {
    const total = several.length;
    setProgress({ decided: 0, total });
    const { failures, decided } = await decideApplications(
      several.map(({ uid }) => uid),
      decision,
      (count) => setProgress({ decided: count, total }),
      () => isStopped.current,
    );
    setProgress(null);
    if (decided > failures.size) toast.success(done(decided - failures.size));
    return several.flatMap((user) => {
      const message = failures.get(user.uid);
      return message === undefined ? [] : [{ user, message }];
    });
  }

  return {
    run: async (decision) => {
      const left = undecided.length > 0 ? undecided.map(({ user }) => user) : people;
      const [only] = people.length === 1 ? people : [];
      isStopped.current = false;
      setRunning(true);
      const failed = only !== undefined ? await runOne(only) : await runMany(left, decision);
      setRunning(false);
      setUndecided(failed);
      if (failed.length === 0) onDone();
    },
    stop: () => {
      isStopped.current = true;
    },
    isRunning,
    progress,
    undecided,
  };
}
