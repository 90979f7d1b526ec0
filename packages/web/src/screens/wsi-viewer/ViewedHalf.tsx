import { IconPointFilled } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './ViewedHalf.module.css';

interface ViewedHalfProps {
  /** Of the slide; null while there is none. */
  readonly name: string | null;
  /** Whether there is another half beside it; else it is a place like any other. */
  readonly isCompared: boolean;
  /** Whether keys and the catalogue work on it. */
  readonly isActive: boolean;
  /** It was touched, or the focus came into it; before it takes effect on the slide. */
  readonly onActivate: () => void;
  readonly children: ReactNode;
}

/** One of two slides side by side, under its name, marked when it is the one that is worked on. */
export function ViewedHalf({ name, isCompared, isActive, onActivate, children }: ViewedHalfProps) {
  return (
    <div
      className={classes.half}
      {...(isCompared && {
        role: 'group',
        'aria-label': name ?? undefined,
        'aria-current': isActive,
        'data-compared': true,
      })}
      // A hand that passes over it on its way to the catalogue means nothing.
      onPointerDownCapture={onActivate}
      onWheelCapture={onActivate}
      onFocusCapture={onActivate}
    >
      {isCompared && (
        <p className={classes.name}>
          {isActive && <IconPointFilled size={16} aria-hidden />}
          <span title={name ?? undefined}>{name}</span>
        </p>
      )}
      <div className={classes.place}>{children}</div>
    </div>
  );
}
