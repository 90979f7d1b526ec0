import { toast } from 'react-toastify';
import type { ActionResult } from '../notifications/action-result.ts';
import { announce } from '../notifications/notify.ts';
import { ActionToast } from './ActionToast.tsx';

/** Time for which a toast with an undo button is shown. */
export const undoButtonMs = 10_000;
/** Minimum time between two undo actions: closing a toast moves the next one under the pointer, and a double click must not undo both. */
const minUndoIntervalMs = 700;
/** Time of the last undo action, as `performance.now()`. */
let lastUndoMs = Number.NEGATIVE_INFINITY;

interface Action {
  /** Name of the affected person or thing, shown after the message. */
  readonly about?: string;
  /** Omitted when the action cannot be undone here. */
  readonly undo?: () => Promise<ActionResult>;
}

/** Shows the result of an action as a toast. With `undo`, a success has an undo button and stays for 10 s. */
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
                if (performance.now() - lastUndoMs < minUndoIntervalMs) return;
                lastUndoMs = performance.now();
                closeToast();
                void undo().then((undoResult) =>
                  announceAction(undoResult, { ...(about !== undefined && { about }) }),
                );
              }
        }
      />
    ),
    undo === undefined ? {} : { autoClose: undoButtonMs },
  );
}
