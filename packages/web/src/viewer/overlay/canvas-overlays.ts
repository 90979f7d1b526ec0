/** Copies the canvases over the slide, with annotations and result layers, for the pictures that users save. */

/** A canvas over the slide, of the size of the viewer in device pixels. */
export interface CanvasOverlay {
  readonly canvas: HTMLCanvasElement;
  /** From 0 to 1; default: 1. */
  readonly opacity?: number;
  /** The part that is shown: its left and right edge, as fractions of the width; default: the whole canvas. */
  readonly span?: HorizontalSpan;
}

/** A part of the viewer from `from` to `to`, as fractions of its width from the left. */
export interface HorizontalSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns one canvas with copies of all overlays. As on the screen, later elements of the page cover earlier ones.
 *
 * @returns null when there are no overlays, or the browser cannot create a canvas
 */
export function combineOverlays(overlays: readonly CanvasOverlay[]): HTMLCanvasElement | null {
  const sorted = overlays.toSorted((a, b) => (isBefore(a.canvas, b.canvas) ? -1 : 1));
  if (sorted.length === 0) return null;
  const combined = document.createElement('canvas');
  // The largest size is that of the viewer: a canvas on which nothing was drawn yet still has the smaller default size.
  combined.width = Math.max(...sorted.map(({ canvas }) => canvas.width));
  combined.height = Math.max(...sorted.map(({ canvas }) => canvas.height));
  const context = combined.getContext('2d');
  if (context === null) return null;
  for (const { canvas, opacity = 1, span = { from: 0, to: 1 } } of sorted) {
    context.globalAlpha = opacity;
    const left = Math.round(span.from * canvas.width);
    const width = Math.round(span.to * canvas.width) - left;
    if (width > 0) context.drawImage(canvas, left, 0, width, canvas.height, left, 0, width, canvas.height);
  }
  return combined;
}

/** Whether an element of the page comes before another one. */
function isBefore(element: Element, other: Element): boolean {
  return (element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
