import { type PointerEvent, useSyncExternalStore } from 'react';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import classes from './Drawings.module.css';
import type { Drawing, DrawingStep } from './drawing.ts';
import { type Figure, figuresOf } from './figures.ts';
import { type Placement, type Point, toImage, toScreen } from './placement.ts';
import { handlesOf } from './shapes.ts';

/** Radius of the dots at the ends of a ruler, in CSS pixels. */
const endRadius = 3;
/** Radius within which a handle can be dragged, in CSS pixels: large enough for a finger. */
const handleRadius = 10;

interface DrawingsProps {
  readonly view: Pick<SlideView, 'placement' | 'watch'>;
  readonly drawing: Drawing;
  readonly calibration: Calibration | null; // null for a slide without a scale
  readonly dispatch: (step: DrawingStep) => void;
}

/**
 * Draws the shapes of the measuring tools over the slide, each with its length or area. Pointer events pass through to the slide,
 * except at the handles of finished shapes, which the user can drag while no tool is chosen. React renders the component again
 * at each step of a movement, so callers render it only while there is a shape or a chosen tool.
 */
export function Drawings({ view, drawing, calibration, dispatch }: DrawingsProps) {
  const placement = useSyncExternalStore(view.watch, view.placement); // converts image pixels to CSS pixels
  if (placement === null) return null;
  return (
    <svg className={classes.drawings} aria-hidden="true">
      {figuresOf(drawing, placement, calibration).map((figure, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: figures have no state that a wrong key could mix up
        <DrawnFigure key={index} figure={figure} />
      ))}
      {drawing.tool === null &&
        drawing.shapes.flatMap((shape, shapeIndex) =>
          handlesOf(shape).map((point, handleIndex) => (
            <Handle
              // biome-ignore lint/suspicious/noArrayIndexKey: a handle is identified by its index in its shape
              key={`${shapeIndex} ${handleIndex}`}
              placement={placement}
              point={point}
              onMove={(newPoint) =>
                dispatch({ type: 'move', shape: shapeIndex, handle: handleIndex, point: newPoint })
              }
            />
          )),
        )}
    </svg>
  );
}

interface HandleProps {
  readonly placement: Placement;
  /** In image pixels. */
  readonly point: Point;
  /** Called with the point to which the handle is dragged, in image pixels. */
  readonly onMove: (point: Point) => void;
}

/** A point of a finished shape that the user can drag. */
function Handle({ placement, point, onMove }: HandleProps) {
  const { x, y } = toScreen(placement, point);
  const drag = (event: PointerEvent<SVGCircleElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return; // the handle is not pressed
    const box = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    if (box === undefined) return;
    onMove(toImage(placement, { x: event.clientX - box.left, y: event.clientY - box.top }));
  };
  return (
    <circle
      className={classes.handle}
      cx={x}
      cy={y}
      r={handleRadius}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    />
  );
}

function DrawnFigure({ figure: { kind, outline, label, labelPosition } }: { readonly figure: Figure }) {
  const points = outline.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');
  return (
    // The browser tests find shapes by `data-shape`.
    <g data-shape={kind}>
      {/* Two lines: a light one with a dark edge is visible on every stain. */}
      <polyline className={classes.edge} points={points} />
      <polyline className={classes.line} points={points} />
      {kind === 'ruler' &&
        outline.map(({ x, y }) => (
          <circle key={`${x} ${y}`} className={classes.end} cx={x} cy={y} r={endRadius} />
        ))}
      {label !== null && (
        <text className={classes.measure} x={labelPosition.x} y={labelPosition.y}>
          {label}
        </text>
      )}
    </g>
  );
}
