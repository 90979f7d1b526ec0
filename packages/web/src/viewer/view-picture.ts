/**
 * Copies the picture that a view shows, for screenshots, the wand (a drawing tool that selects similar colours) and the white
 * balance.
 */
import type OpenSeadragon from 'openseadragon';
import type { Colour } from './colours/adjustment.ts';
import type { Point } from './overlay/placement.ts';
import { CanvasDrawer } from './renderer/canvas-drawer.ts';
import { WebGlDrawer } from './renderer/webgl-drawer.ts';

/** A copy of the visible part of the slide. */
export interface ViewPicture {
  readonly canvas: HTMLCanvasElement;
  /** Whether the canvas contains the adjusted colours (WebGL); if not, the page adjusts them on the screen with a CSS filter. */
  readonly hasAdjustedColours: boolean;
  /** Size of the viewer in CSS pixels; the canvas itself has device pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * Draws the view and returns a copy of the picture; null when the browser cannot create a canvas. A WebGL canvas loses its content
 * once the browser has shown it, so the view is drawn again right before its canvas is copied.
 */
export function copyViewPicture(viewer: OpenSeadragon.Viewer): ViewPicture | null {
  const { drawer, world } = viewer;
  const images = Array.from({ length: world.getItemCount() }, (_, index) => world.getItemAt(index));
  if (drawer instanceof WebGlDrawer || drawer instanceof CanvasDrawer) drawer.draw(images);
  const canvas = document.createElement('canvas');
  canvas.width = drawer.canvas.width;
  canvas.height = drawer.canvas.height;
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.drawImage(drawer.canvas, 0, 0);
  const { x: width, y: height } = viewer.viewport.getContainerSize();
  return { canvas, hasAdjustedColours: drawer instanceof WebGlDrawer, width, height };
}

/** A colour is averaged over a square that extends by this many device pixels to each side of its middle pixel. */
const averagingRadius = 3;

/**
 * Returns the mean colour around a point, each channel from 0 to 1; null when the averaged square is not wholly on the slide.
 *
 * @param point in CSS pixels of the viewer
 */
export function meanColourAt({ canvas, width }: ViewPicture, { x, y }: Point): Colour | null {
  const scale = canvas.width / width;
  const side = 2 * averagingRadius + 1;
  const left = Math.round(x * scale) - averagingRadius;
  const top = Math.round(y * scale) - averagingRadius;
  const pixels = canvas.getContext('2d')?.getImageData(left, top, side, side).data;
  if (pixels === undefined) return null;
  const sums: [number, number, number] = [0, 0, 0];
  for (let offset = 0; offset < pixels.length; offset += 4) {
    if (pixels[offset + 3] !== 255) return null; // transparent: beside the slide
    for (const channel of [0, 1, 2] as const) sums[channel] += pixels[offset + channel] ?? 0;
  }
  const pixelCount = pixels.length / 4;
  const maxSum = 255 * pixelCount;
  return [sums[0] / maxSum, sums[1] / maxSum, sums[2] / maxSum];
}
