/**
 * How far a wheel zooms. A mouse tells of one notch at a time, a trackpad of many small strokes a second: each counts
 * for as much as it moved, so that both are equally quick under the hand.
 */

/** What a notch of a mouse wheel zooms by. */
const notchFactor = 1.2;
/** Pixels that browsers tell of a notch; of a line and a page, where they tell those (`WheelEvent.deltaMode`). */
const notchPixels = 100;
const pixelsOfUnit = [1, 40, 800] as const;
/** Two fingers that part on a trackpad come as a wheel with Ctrl, and in smaller steps. */
const pinchGain = 8;
/** However fast it is turned. */
const mostNotches = 2;

type Turn = Pick<WheelEvent, 'deltaY' | 'deltaMode' | 'ctrlKey'>;

/** At least 1: the direction is told apart from it. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }: Turn): number {
  const pixels = Math.abs(deltaY) * (pixelsOfUnit[deltaMode] ?? 1);
  const notches = (pixels / notchPixels) * (ctrlKey && pixels < notchPixels ? pinchGain : 1);
  return notchFactor ** Math.min(notches, mostNotches);
}
