import { Button } from '@mantine/core';
import classes from './SlideManagement.module.css';
import { texts } from './texts.ts';

interface UndoToastProps {
  readonly message: string;
  readonly onUndo: () => void;
}

export function UndoToast({ message, onUndo }: UndoToastProps) {
  return (
    <div className={classes.undo}>
      <span>{message}</span>
      <Button size="compact-sm" variant="default" onClick={onUndo}>
        {texts.undo}
      </Button>
    </div>
  );
}
