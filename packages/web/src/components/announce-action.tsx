import { toast } from 'react-toastify';
import type { ActionResult } from '../notifications/action-result.ts';
import { announce } from '../notifications/notify.ts';
import { ActionToast } from './ActionToast.tsx';

/** How long the undo button is shown. */
export const undoMs = 10_000;
/** Minimum time between two undo actions: when a toast closes, the next one moves under the pointer, and a double click must undo only one action. */
const minUndoIntervalMs = 700;
let lastUndoAt = Number.NEGATIVE_INFINITY;

interface Action {
  /** The affected person or thing. */
  readonly about?: string;
  /** Omitted when the action cannot be undone here. */
  readonly undo?: () => Promise<ActionResult>;
}

/** Shows the result of an action as a toast; a success names the affected person or thing and has an undo button for 10 s. */
export function announceAction(result: ActionResult, { about, undo }: Action): void {
  if (!result.success) {
    announce(result);
    return;
  }
  toast.success(
    ({ closeToast }) => (
      <ActionToast
        message={result.message}
        about={about ?? null}
        onUndo={
          undo === undefined
            ? null
            : () => {
                if (performance.now() - lastUndoAt < minUndoIntervalMs) return;
                lastUndoAt = performance.now();
                closeToast();
                void undo().then((undone) =>
                  announceAction(undone, { ...(about !== undefined && { about }) }),
                );
              }
        }
      />
    ),
    undo === undefined ? {} : { autoClose: undoMs },
  );
}
