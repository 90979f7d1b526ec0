/**
 * Computes the position of the divider between two compared result layers (such as computed heatmaps). The uppermost
 * layer is shown to the left of the divider, the next layer to the right. Positions are from 0 (left edge of the view)
 * to 1 (right edge), in steps of 0.01, because the page's URL stores whole per cent.
 */
import type { HorizontalSpan } from '../overlay/canvas-overlays.ts';

/** Movement by one press of an arrow key. */
const smallStep = 0.02;
/** Movement by one press of a Page key. */
const largeStep = 0.1;

/** Returns the position of the divider at the pointer; 0.5 (the middle) while the view has no layout and therefore the width 0. */
export function dividerAtPointer(clientX: number, { left, width }: Pick<DOMRect, 'left' | 'width'>): number {
  return width === 0 ? 0.5 : toPosition((clientX - left) / width);
}

/** Returns the position of the divider after a key press; null when the key does not move it. */
export function dividerAfterKey(position: number, key: string): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -smallStep,
    ArrowDown: -smallStep,
    ArrowRight: smallStep,
    ArrowUp: smallStep,
    PageDown: -largeStep,
    PageUp: largeStep,
    Home: -1, // from every position to the left edge, at which `toPosition` stops
    End: 1,
  };
  const step = steps[key];
  return step === undefined ? null : toPosition(position + step);
}

/** Returns the CSS `clip-path` that shows a part of a layer. */
export function clipPathOf({ from, to }: HorizontalSpan): string {
  const percent = (fraction: number) => (fraction === 0 ? '0' : `${Number((fraction * 100).toFixed(2))}%`);
  return `inset(0 ${percent(1 - to)} 0 ${percent(from)})`;
}

/** Limits a number to the range from 0 to 1 and rounds it to hundredths. */
function toPosition(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;
}
