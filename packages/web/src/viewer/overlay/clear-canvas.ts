import type { SlideView } from '../slide-view.ts';

/** Empties a canvas over the slide and gives it the size of the view. @returns null where the browser cannot draw */
export function clearCanvas(
  canvas: HTMLCanvasElement | null,
  view: SlideView,
): CanvasRenderingContext2D | null {
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null) return null;
  const { width, height } = view.size();
  const wide = Math.round(width * window.devicePixelRatio);
  const high = Math.round(height * window.devicePixelRatio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  } else {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, wide, high);
  }
  return context;
}
