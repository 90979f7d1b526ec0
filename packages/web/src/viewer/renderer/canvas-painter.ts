/** Draws tiles on a 2D canvas, for `CanvasDrawer` and for screenshots. */
import type { Placement } from '../overlay/placement.ts';
import type { Quad } from './geometry.ts';
import { spansOf } from './spans.ts';
import type { TilePicture } from './tile-pictures.ts';

/** `drawRotated` enlarges a tile by this many device pixels, so that no gaps show between the smoothed edges of tiles. */
const seamOverlap = 0.75;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** A tile, or a part of a tile, on the canvas. Its picture (the decoded tile) needs only the pixels and their size. */
interface CanvasQuad extends Omit<Quad, 'picture'> {
  readonly picture: Pick<TilePicture, 'bitmap' | 'width' | 'height'>;
}

/**
 * Draws a quad. Changes the transformation and opacity of the context. Draws nothing while the picture has no bitmap.
 *
 * @param placement tells whether the slide is rotated or mirrored
 */
export function drawQuad(context: Context, quad: CanvasQuad, { a, b, c, d }: Placement): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (b === 0 && c === 0 && a > 0 && d > 0) drawUpright(context, quad);
  else drawRotated(context, quad);
}

/**
 * Draws a tile that is neither rotated nor mirrored, on exactly the device pixels whose centres lie in the tile, as a graphics
 * card does. If a tile ended within a device pixel, the canvas would smooth its edge, and the background would shine through
 * between neighbouring tiles.
 */
function drawUpright(context: Context, { picture, corners, part, opacity }: CanvasQuad): void {
  const { bitmap } = picture;
  if (bitmap === null) return;
  // The first corner is top left, the fourth bottom right.
  const [left = 0, top = 0, , , , , right = 0, bottom = 0] = corners;
  const [partLeft, partTop, partRight, partBottom] = part;
  // Each span draws a part of the picture on whole device pixels along one axis.
  const columns = spansOf(left, right, partLeft * picture.width, partRight * picture.width);
  const rows = spansOf(top, bottom, partTop * picture.height, partBottom * picture.height);
  context.globalAlpha = opacity;
  for (const row of rows) {
    for (const column of columns) {
      context.drawImage(
        bitmap,
        column.sourceStart,
        row.sourceStart,
        column.sourceLength,
        row.sourceLength,
        column.targetStart,
        row.targetStart,
        column.targetLength,
        row.targetLength,
      );
    }
  }
}

/** Draws a tile that is rotated or mirrored. */
function drawRotated(context: Context, { picture, corners, part, opacity, isExact }: CanvasQuad): void {
  const { bitmap } = picture;
  if (bitmap === null) return;
  // Top left, top right and bottom left before the rotation.
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0] = corners;
  const [partLeft, partTop, partRight, partBottom] = part;
  const sourceX = partLeft * picture.width;
  const sourceY = partTop * picture.height;
  const width = partRight * picture.width - sourceX;
  const height = partBottom * picture.height - sourceY;
  const extra = isExact ? 0 : seamOverlap; // a tile whose pixels lie exactly on device pixels has no smoothed edges
  // Device pixels per pixel of the picture, along its rows and columns.
  const scaleX = Math.hypot(x1 - x0, y1 - y0) / width;
  const scaleY = Math.hypot(x2 - x0, y2 - y0) / height;
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
    width + extra / scaleX,
    height + extra / scaleY,
  );
}
