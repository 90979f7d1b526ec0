import { Button } from '@mantine/core';
import classes from './ActionToast.module.css';
import { texts } from './texts.ts';
import { useSettled } from './use-settled.ts';

interface ActionToastProps {
  readonly message: string;
  /** The affected person or thing; null when the message names it. */
  readonly about: string | null;
  /** Null when the action cannot be undone here. */
  readonly onUndo: (() => void) | null;
}

/** Content of a toast: the result of an action, and an undo button when the action can be undone. */
export function ActionToast({ message, about, onUndo }: ActionToastProps) {
  // A new toast moves the others, so a click just after it appears may be meant for another toast. The undo button is therefore
  // disabled for the first 0.7 s. With the constant 'shown' in place of a description of the layout, it is not disabled again.
  const isSettled = useSettled('shown', { isInitiallySettled: false });
  return (
    <div className={classes.toast}>
      <div className={classes.words}>
        <span>{message}</span>
        {about !== null && <strong className={classes.about}>{about}</strong>}
      </div>
      {onUndo !== null && (
        <Button size="compact-sm" variant="default" disabled={!isSettled} onClick={onUndo}>
          {texts.undo}
        </Button>
      )}
    </div>
  );
}
