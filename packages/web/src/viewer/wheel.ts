/**
 * The zoom factor of wheel events. A mouse sends one event per notch, a trackpad many small ones: each counts by its
 * distance, so that both are equally fast.
 */

/** Zoom factor of a notch. */
const notchFactor = 1.2;
/** Pixels that browsers report per notch, line and page (`WheelEvent.deltaMode`). */
const notchPixels = 100;
const pixelsOfUnit = [1, 40, 800] as const;
/** A trackpad pinch arrives as a wheel with Ctrl, in smaller steps. */
const pinchGain = 8;
/** Maximum distance of one event. */
const mostNotches = 2;

type Turn = Pick<WheelEvent, 'deltaY' | 'deltaMode' | 'ctrlKey'>;

/** Returns the factor, at least 1; the caller applies the direction. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }: Turn): number {
  const pixels = Math.abs(deltaY) * (pixelsOfUnit[deltaMode] ?? 1);
  const notches = (pixels / notchPixels) * (ctrlKey && pixels < notchPixels ? pinchGain : 1);
  return notchFactor ** Math.min(notches, mostNotches);
}
