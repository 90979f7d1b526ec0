import { useRef } from 'react';
import classes from './Results.module.css';
import { placeAfterKey, placeOfPointer } from './swipe.ts';
import { texts } from './texts.ts';

interface SwipeDividerProps {
  /** 0 to 1 from the left. */
  readonly place: number;
  /** Names of the compared layers. */
  readonly left: string;
  readonly right: string;
  readonly onPlace: (place: number) => void;
}

/** The line between two compared layers, moved by pointer, touch and arrow keys. */
export function SwipeDivider({ place, left, right, onPlace }: SwipeDividerProps) {
  const area = useRef<HTMLDivElement>(null);
  return (
    <div ref={area} className={classes.swipe}>
      <div
        className={classes.divider}
        style={{ left: `${place * 100}%` }}
        role="slider"
        tabIndex={0}
        aria-label={texts.divider}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(place * 100)}
        aria-valuetext={texts.dividerPlace(left, right, place)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (area.current === null || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
          onPlace(placeOfPointer(event.clientX, area.current.getBoundingClientRect()));
        }}
        onKeyDown={(event) => {
          const next = placeAfterKey(place, event.key);
          if (next === null) return;
          event.preventDefault();
          onPlace(next);
        }}
      >
        <span className={classes.grip} aria-hidden="true" />
      </div>
    </div>
  );
}
