import type { SlideView } from '../slide-view.ts';

/**
 * Clears a canvas over the slide, resets its transformation, and gives it the size of the view in device pixels.
 *
 * @returns the context of the canvas; null when there is no canvas or the browser has no 2D context
 */
export function clearCanvas(
  canvas: HTMLCanvasElement | null,
  view: SlideView,
): CanvasRenderingContext2D | null {
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null) return null;
  const { width, height } = view.size();
  const deviceWidth = Math.round(width * window.devicePixelRatio);
  const deviceHeight = Math.round(height * window.devicePixelRatio);
  if (canvas.width !== deviceWidth || canvas.height !== deviceHeight) {
    canvas.width = deviceWidth; // setting the size also clears and resets the canvas
    canvas.height = deviceHeight;
  } else {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, deviceWidth, deviceHeight);
  }
  return context;
}
