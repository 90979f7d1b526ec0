/** A copy of what a view shows. */
import type OpenSeadragon from 'openseadragon';
import type { Colour } from './colours/adjustment.ts';
import type { Point } from './overlay/placement.ts';
import { CanvasDrawer } from './renderer/canvas-drawer.ts';
import { WebGlDrawer } from './renderer/webgl-drawer.ts';

export interface ViewPicture {
  readonly canvas: HTMLCanvasElement;
  /** Whether the canvas has the colours as shown, not as stored. */
  readonly hasColours: boolean;
  /** CSS pixels of the viewer. */
  readonly width: number;
  readonly height: number;
}

/** The canvas of a graphics card has its content only until the browser has shown it: it is drawn and copied at once. */
export function pictureNow(viewer: OpenSeadragon.Viewer): ViewPicture | null {
  const { drawer, world } = viewer;
  const images = Array.from({ length: world.getItemCount() }, (_, place) => world.getItemAt(place));
  if (drawer instanceof WebGlDrawer || drawer instanceof CanvasDrawer) drawer.draw(images);
  const canvas = document.createElement('canvas');
  canvas.width = drawer.canvas.width;
  canvas.height = drawer.canvas.height;
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.drawImage(drawer.canvas, 0, 0);
  const { x: width, y: height } = viewer.viewport.getContainerSize();
  return { canvas, hasColours: drawer instanceof WebGlDrawer, width, height };
}

/** Half the side of the square, in device pixels, over which a colour is averaged. */
const meanOver = 3;

/** Returns the mean colour around a place, in CSS pixels of the viewer; null beside the slide. */
export function meanColourAt({ canvas, width }: ViewPicture, { x, y }: Point): Colour | null {
  const scale = canvas.width / width;
  const side = 2 * meanOver + 1;
  const left = Math.round(x * scale) - meanOver;
  const top = Math.round(y * scale) - meanOver;
  const pixels = canvas.getContext('2d')?.getImageData(left, top, side, side).data;
  if (pixels === undefined) return null;
  const sums: [number, number, number] = [0, 0, 0];
  for (let place = 0; place < pixels.length; place += 4) {
    if (pixels[place + 3] !== 255) return null; // beside the slide
    for (const channel of [0, 1, 2] as const) sums[channel] += pixels[place + channel] ?? 0;
  }
  const total = (255 * pixels.length) / 4;
  return [sums[0] / total, sums[1] / total, sums[2] / total];
}
