import type { Drawing } from './overlay/drawing.ts';
import { markCountOf } from './overlay/shapes.ts';
import classes from './SlideViewer.module.css';
import { texts } from './texts.ts';

/** Shows what the next click does with the chosen tool; for the counting tool also the number of marked cells. */
export function ToolHint({ drawing }: { readonly drawing: Drawing }) {
  return <p className={classes.hint}>{hintOf(drawing)}</p>;
}

/** Returns the text of the hint; null when no tool is chosen. */
function hintOf({ tool, placedPoints, shapes }: Drawing): string | null {
  switch (tool) {
    case 'ruler':
      return placedPoints.length === 0 ? texts.hints.ruler : texts.hints.rulerEnd;
    case 'area':
      return placedPoints.length < 3 ? texts.hints.area : texts.hints.areaEnd; // an area has at least three corners
    case 'circle':
      return texts.hints.circle;
    case 'mark':
      return `${texts.counted(markCountOf(shapes))} · ${texts.hints.mark}`;
    case null:
      return null;
  }
}
