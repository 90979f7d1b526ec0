import { IconPointFilled } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './ViewedHalf.module.css';

interface ViewedHalfProps {
  /** Name of the slide; null while the half shows none. */
  readonly name: string | null;
  /** Whether two halves are shown. A single half has no role, name or mark. */
  readonly isCompared: boolean;
  /** Whether keyboard input and the catalogue apply to this half. */
  readonly isActive: boolean;
  /** Called when the half is pressed, scrolled or focused, before the slide handles the event. */
  readonly onActivate: () => void;
  readonly children: ReactNode;
}

/**
 * One half of the viewer. In a comparison of two slides, it shows the name of its slide, and a mark while it is the active half.
 * Without a comparison, the first half fills the viewer.
 */
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
      // Hovering does not activate the half, because the pointer may cross it on the way to the catalogue.
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
