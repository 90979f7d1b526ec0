/** Draws tiles on a 2D canvas. */
import type { Placement } from '../overlay/placement.ts';
import type { Quad } from './geometry.ts';
import { spansOf } from './spans.ts';
import type { TilePicture } from './tile-pictures.ts';

/** Rotated tiles are drawn so much larger, in device pixels, that there are no gaps between their smoothed edges. */
const overlap = 0.75;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

interface CanvasQuad extends Omit<Quad, 'picture'> {
  readonly picture: Pick<TilePicture, 'bitmap' | 'width' | 'height'>;
}

/** Changes the transformation and opacity of the context. Does nothing while the picture has no bitmap. */
export function drawQuad(context: Context, quad: CanvasQuad, { a, b, c, d }: Placement): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (b === 0 && c === 0 && a > 0 && d > 0) drawUpright(context, quad);
  else drawRotated(context, quad);
}

/**
 * Draws exactly the device pixels whose centres are in the tile, as a graphics card does. A smoothed edge within a pixel would mix
 * it with its neighbour's, and show the ground between both.
 */
function drawUpright(context: Context, { picture, corners, part, opacity }: CanvasQuad): void {
  const { bitmap } = picture;
  if (bitmap === null) return;
  const [left = 0, top = 0, , , , , right = 0, bottom = 0] = corners;
  const across = spansOf(left, right, part[0] * picture.width, part[2] * picture.width);
  const down = spansOf(top, bottom, part[1] * picture.height, part[3] * picture.height);
  context.globalAlpha = opacity;
  for (const y of down) {
    for (const x of across) {
      context.drawImage(bitmap, x.from, y.from, x.length, y.length, x.to, y.to, x.drawn, y.drawn);
    }
  }
}

function drawRotated(context: Context, { picture, corners, part, opacity, isExact }: CanvasQuad): void {
  const { bitmap } = picture;
  if (bitmap === null) return;
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0] = corners;
  const sourceX = part[0] * picture.width;
  const sourceY = part[1] * picture.height;
  const width = part[2] * picture.width - sourceX;
  const height = part[3] * picture.height - sourceY;
  const extra = isExact ? 0 : overlap;
  const along = Math.hypot(x1 - x0, y1 - y0) / width;
  const down = Math.hypot(x2 - x0, y2 - y0) / height;
  context.globalAlpha = opacity;
  context.setTransform((x1 - x0) / width, (y1 - y0) / width, (x2 - x0) / height, (y2 - y0) / height, x0, y0);
  context.drawImage(
    bitmap,
    sourceX,
    sourceY,
    width,
    height,
    0,
    0,
    width + extra / along,
    height + extra / down,
  );
}
