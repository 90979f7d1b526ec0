import { useSyncExternalStore } from 'react';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import classes from './Drawings.module.css';
import type { Drawing } from './drawing.ts';
import { type Figure, figuresOf } from './figures.ts';

const endRadius = 3;

interface DrawingsProps {
  readonly view: Pick<SlideView, 'placement' | 'watch'>;
  readonly drawing: Drawing;
  readonly calibration: Calibration | null;
}

/**
 * What has been drawn over the slide, each shape with its measure. It lets every pointer through, and is drawn anew at
 * each step of a movement, so it stands in the page only while there is something to draw.
 */
export function Drawings({ view, drawing, calibration }: DrawingsProps) {
  const placement = useSyncExternalStore(view.watch, view.placement);
  if (placement === null) return null;
  return (
    <svg className={classes.drawings} aria-hidden="true">
      {figuresOf(drawing, placement, calibration).map((figure, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes are only added and taken away at the end
        <DrawnFigure key={place} figure={figure} />
      ))}
    </svg>
  );
}

function DrawnFigure({ figure: { kind, outline, measure, measureAt } }: { readonly figure: Figure }) {
  const places = outline.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');
  return (
    <g data-shape={kind}>
      {/* Twice: a light line with a dark edge is seen on every stain. */}
      <polyline className={classes.edge} points={places} />
      <polyline className={classes.line} points={places} />
      {kind === 'ruler' &&
        outline.map(({ x, y }) => (
          <circle key={`${x} ${y}`} className={classes.end} cx={x} cy={y} r={endRadius} />
        ))}
      {measure !== null && (
        <text className={classes.measure} x={measureAt.x} y={measureAt.y}>
          {measure}
        </text>
      )}
    </g>
  );
}
