import { useSyncExternalStore } from 'react';
import { type Point, toImage, toScreen } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import classes from './Tour.module.css';

type MarkedView = Pick<SlideView, 'placement' | 'watch' | 'centre'>;

interface SlideMarksProps {
  readonly view: MarkedView;
  /** Marked points in image pixels; several points are numbered from 1. */
  readonly points: readonly Point[];
  /** Corners of an area in image pixels; the last corner is connected to the first. */
  readonly area?: readonly Point[];
  /** Called with the clicked point in image pixels; null: marking is off, and the pointer moves the slide. */
  readonly onMark: ((point: Point) => void) | null;
  /** Accessible name of the button that covers the slide while marking is on. */
  readonly label: string;
}

/** Draws points and an area over a slide, for example those of a question. While marking is on, a click marks a point. */
export function SlideMarks({ view, points, area = [], onMark, label }: SlideMarksProps) {
  const placement = useSyncExternalStore(view.watch, view.placement); // converts image pixels to CSS pixels
  if (placement === null) return null; // the slide is not open yet
  const corners = area.map((corner) => toScreen(placement, corner));
  return (
    <>
      <svg className={classes.marks} aria-hidden="true">
        {corners.length > 1 && (
          <polygon className={classes.area} points={corners.map(({ x, y }) => `${x},${y}`).join(' ')} />
        )}
        {corners.map(({ x, y }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: corners are only added and removed at the end
          <circle key={index} className={classes.corner} cx={x} cy={y} r={4} />
        ))}
        {points.map((point, index) => {
          const { x, y } = toScreen(placement, point);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: points are only added and removed at the end
            <g key={index} className={classes.point} transform={`translate(${x} ${y})`}>
              {/* A circle with a crosshair; sizes in CSS pixels. */}
              <circle r={9} />
              <path d="M-14 0H-4M4 0H14M0 -14V-4M0 4V14" />
              {points.length > 1 && (
                <text x={12} y={-10}>
                  {index + 1}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      {onMark !== null && (
        <button
          type="button"
          className={classes.target}
          aria-label={label}
          onClick={(event) => {
            const { left, top } = event.currentTarget.getBoundingClientRect();
            // A click by keyboard (Enter) has no pointer position, so it marks the middle of the view.
            const isByKeyboard = event.detail === 0;
            const screenPoint = isByKeyboard
              ? view.centre()
              : { x: event.clientX - left, y: event.clientY - top };
            onMark(toImage(placement, screenPoint));
          }}
        />
      )}
    </>
  );
}
