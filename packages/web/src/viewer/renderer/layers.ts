/**
 * Layers: what is drawn over the slide, into the same canvas and in the same frame as its tiles, such as annotations and heat
 * maps. A layer that needs a frame of its own (its data has changed) calls `redraw` of the renderer.
 */
import type { CanvasView } from './geometry.ts';

export interface Layer {
  /**
   * Draws with WebGL 2, after the tiles and the layers added before.
   *
   * Blending is on, for premultiplied colours (`ONE`, `ONE_MINUS_SRC_ALPHA`); the layer may use any program, buffer and texture
   * unit and need not restore them, but must leave no framebuffer bound. Keep programs and buffers in a WeakMap by context, or
   * create them again when `gl` differs from the last call: after a context loss all objects of the old one are gone.
   */
  draw?(gl: WebGL2RenderingContext, view: CanvasView): void;
  /** Draws on computers without WebGL, in device pixels of the canvas. */
  drawOnCanvas?(context: CanvasRenderingContext2D, view: CanvasView): void;
  /** The graphics context was lost and restored: programs, buffers and textures of the layer must be created again. */
  onContextRestored?(): void;
}
