/**
 * Computes the zoom factor of wheel events. A mouse sends one event per notch (one click of the wheel), a trackpad sends many
 * events of a small distance. Each event zooms by its distance, so that both devices zoom equally fast.
 */

/** Zoom factor of one notch. */
const notchFactor = 1.2;
/** Distance that browsers usually report for one notch, in pixels. */
const notchPixels = 100;
/** Pixels per unit of the distance, by `WheelEvent.deltaMode`: 0 means pixels, 1 lines, 2 pages. */
const pixelsPerUnit = [1, 40, 800] as const;
/** Browsers report a pinch on a trackpad as a wheel event with Ctrl and a small distance; the distance is multiplied by this. */
const pinchGain = 8;
/** A single event zooms by at most this many notches. */
const maxNotches = 2;

type WheelMovement = Pick<WheelEvent, 'deltaY' | 'deltaMode' | 'ctrlKey'>;

/** Returns the zoom factor of an event, at least 1; the caller applies the direction. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }: WheelMovement): number {
  const pixels = Math.abs(deltaY) * (pixelsPerUnit[deltaMode] ?? 1);
  // A mouse wheel turned with Ctrl is not a pinch: it reports at least one notch.
  const isPinch = ctrlKey && pixels < notchPixels;
  const notches = (pixels / notchPixels) * (isPinch ? pinchGain : 1);
  return notchFactor ** Math.min(notches, maxNotches);
}
