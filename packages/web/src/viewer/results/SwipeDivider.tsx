/** The divider between two compared result layers (such as computed heatmaps). Pointer, touch and keyboard move it. */
import { useRef } from 'react';
import classes from './Results.module.css';
import { dividerAfterKey, dividerAtPointer } from './swipe.ts';
import { texts } from './texts.ts';

interface SwipeDividerProps {
  /** Position of the divider in the view, 0 to 1 from the left. */
  readonly position: number;
  /** Names of the compared layers. */
  readonly leftName: string;
  readonly rightName: string;
  readonly onMove: (position: number) => void;
}

export function SwipeDivider({ position, leftName, rightName, onMove }: SwipeDividerProps) {
  const area = useRef<HTMLDivElement>(null);
  return (
    <div ref={area} className={classes.swipe}>
      <div
        className={classes.divider}
        style={{ left: `${position * 100}%` }}
        role="slider"
        tabIndex={0}
        aria-label={texts.divider}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(position * 100)}
        aria-valuetext={texts.dividerPlace(leftName, rightName, position)}
        onPointerDown={(event) => {
          if (event.button !== 0) return; // not the main button
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (area.current === null || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
          onMove(dividerAtPointer(event.clientX, area.current.getBoundingClientRect()));
        }}
        onKeyDown={(event) => {
          const next = dividerAfterKey(position, event.key);
          if (next === null) return;
          event.preventDefault();
          onMove(next);
        }}
      >
        <span className={classes.grip} aria-hidden="true" />
      </div>
    </div>
  );
}
