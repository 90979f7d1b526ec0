/**
 * The interface of layers, which draw over the slide on the same canvas and in the same frame as its tiles. A layer whose data
 * has changed calls `redraw` of the renderer to get a new frame.
 */
import type { CanvasView } from './geometry.ts';

export interface Layer {
  /**
   * Draws with WebGL 2, after the tiles and the layers added before.
   *
   * Blending is on, for premultiplied colours (`ONE`, `ONE_MINUS_SRC_ALPHA`). The layer may use any program, buffer and texture
   * unit, and need not restore them, but must leave no framebuffer bound. Keep programs and buffers in a WeakMap by context, or
   * create them again when `gl` differs from the last call: when a context is lost, all its objects are lost, too.
   */
  draw?(gl: WebGL2RenderingContext, view: CanvasView): void;
  /** Draws with a 2D canvas, on computers without WebGL, in device pixels. */
  drawOnCanvas?(context: CanvasRenderingContext2D, view: CanvasView): void;
  /** Called when the graphics context was lost and restored: the layer must create its programs, buffers and textures again. */
  onContextRestored?(): void;
}
