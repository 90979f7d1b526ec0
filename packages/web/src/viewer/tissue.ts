/**
 * Finds tissue in the thumbnail of a slide, so that a slide that is opened beside another one does not show blank glass first.
 */
import type { SlideField } from './view-address.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A small picture of the whole slide: red, green, blue and alpha of each pixel. */
export type SmallPicture = Size & { readonly data: Uint8ClampedArray };

/** A pixel shows tissue if its red, green and blue (0 to 255) differ from the background by at least this much in total. */
const minDifference = 60;
/** A field (the visible part of a slide) shows tissue if at least this fraction of its area is tissue. */
const minTissueFraction = 0.02;
/**
 * The score of a position is its fraction of tissue minus this penalty times its distance from the requested position. The
 * distance is 1 for the diagonal of the slide.
 */
const distancePenalty = 0.3;

/**
 * Returns the requested field unchanged when it shows tissue, or when no other position does. Otherwise returns a field of the same
 * zoom and orientation at the position with the highest score (see `distancePenalty`).
 *
 * @param picture thumbnail of the slide
 * @param slide size of the slide in pixels at full resolution
 * @param view size of the viewer in CSS pixels
 */
export function fieldOnTissue(picture: SmallPicture, slide: Size, view: Size, field: SlideField): SlideField {
  const { width, height } = picture;
  const sums = summedAreaTable(tissueMaskOf(picture), picture);
  /** Pixels of the picture per pixel of the slide. */
  const scale = width / slide.width;
  // The field counts as an upright square as wide as its shorter side, whatever its rotation; in pixels of the picture.
  const fieldSide = (Math.min(view.width, view.height) / field.zoom) * scale;
  const halfSide = Math.max(1, fieldSide / 2);
  /** Returns the fraction of tissue in the square around a position, in pixels of the picture. */
  const tissueFractionAt = (x: number, y: number): number => {
    const [left, right] = [Math.max(0, Math.floor(x - halfSide)), Math.min(width, Math.ceil(x + halfSide))];
    const [top, bottom] = [Math.max(0, Math.floor(y - halfSide)), Math.min(height, Math.ceil(y + halfSide))];
    const area = Math.max(0, right - left) * Math.max(0, bottom - top);
    if (area === 0) return 0;
    /** Returns the number of tissue pixels left of a column and above a row. */
    const sumTo = (column: number, row: number) => sums[row * (width + 1) + column] ?? 0;
    return (sumTo(right, bottom) - sumTo(left, bottom) - sumTo(right, top) + sumTo(left, top)) / area;
  };
  const [requestedX, requestedY] = [field.x * scale, field.y * scale];
  if (tissueFractionAt(requestedX, requestedY) >= minTissueFraction) return field;
  let best = { score: Number.NEGATIVE_INFINITY, x: requestedX, y: requestedY };
  // Tests every second pixel of every second row.
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      const tissueFraction = tissueFractionAt(column + 0.5, row + 0.5); // around the middle of the pixel
      if (tissueFraction < minTissueFraction) continue;
      const distance = Math.hypot(column - requestedX, row - requestedY) / Math.hypot(width, height);
      const score = tissueFraction - distancePenalty * distance;
      if (score > best.score) best = { score, x: column + 0.5, y: row + 0.5 };
    }
  }
  const hasFoundTissue = best.score > Number.NEGATIVE_INFINITY;
  return hasFoundTissue ? { ...field, x: best.x / scale, y: best.y / scale } : field;
}

/** Returns a mask with 1 for each pixel that differs from the background, which is the median colour of the picture's border. */
function tissueMaskOf({ width, height, data }: SmallPicture): Uint8Array {
  /** Indices of the pixels at the edges of the picture. */
  const border: number[] = [];
  for (let x = 0; x < width; x++) border.push(x, (height - 1) * width + x);
  for (let y = 0; y < height; y++) border.push(y * width, y * width + width - 1);
  const median = (channel: number) => {
    const values = border.map((pixel) => data[pixel * 4 + channel] ?? 0).sort((a, b) => a - b);
    return values[values.length >> 1] ?? 0;
  };
  const background = [median(0), median(1), median(2)] as const;
  return Uint8Array.from({ length: width * height }, (_, pixel) => {
    const difference = background.reduce(
      (sum, value, channel) => sum + Math.abs((data[pixel * 4 + channel] ?? 0) - value),
      0,
    );
    return difference >= minDifference ? 1 : 0;
  });
}

/**
 * Returns the summed-area table of a mask: for each corner of a pixel, the number of tissue pixels above and to the left of it.
 * The number of tissue pixels in any rectangle follows from the four entries at its corners.
 */
function summedAreaTable(tissueMask: Uint8Array, { width, height }: Size): Uint32Array {
  const sums = new Uint32Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let rowSum = 0;
    for (let x = 0; x < width; x++) {
      rowSum += tissueMask[y * width + x] ?? 0;
      sums[(y + 1) * (width + 1) + x + 1] = (sums[y * (width + 1) + x + 1] ?? 0) + rowSum;
    }
  }
  return sums;
}

/** Loads and decodes a thumbnail, which the browser usually has in its cache from the catalogue. */
export async function loadSmallPicture(url: string, signal: AbortSignal): Promise<SmallPicture> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`The thumbnail could not be loaded: status ${response.status}.`);
  const bitmap = await createImageBitmap(await response.blob());
  const { width, height } = bitmap;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser does not support 2D canvas.');
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return { width, height, data: context.getImageData(0, 0, width, height).data };
}
