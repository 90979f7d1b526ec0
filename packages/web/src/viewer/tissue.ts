/** Finds tissue in a small picture of a slide, so that a slide does not open on blank glass. */
import type { SlideField } from './view-address.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A small picture of the whole slide: red, green, blue and alpha of each pixel. */
export type SmallPicture = Size & { readonly data: Uint8ClampedArray };

/** Sum of the differences of red, green and blue from the background, above which a pixel shows tissue. */
const leastDifference = 60;
/** Share of the field that tissue must cover. */
const leastShare = 0.02;
/** How much a place at the other end of the slide loses against a near one; shares of tissue are from 0 to 1. */
const priceOfDistance = 0.3;

/**
 * Returns the field, or, where it shows no tissue, one of the same size and direction on tissue that is near and dense.
 *
 * @param view size of the viewer in CSS pixels
 * @param slide size in pixels at full resolution
 */
export function fieldOnTissue(picture: SmallPicture, slide: Size, view: Size, field: SlideField): SlideField {
  const { width, height } = picture;
  const sums = sumsOf(tissueIn(picture), picture);
  const scale = width / slide.width;
  // Half of the shorter side: the rotation does not matter.
  const radius = Math.max(1, ((Math.min(view.width, view.height) / field.zoom) * scale) / 2);
  const shareAt = (x: number, y: number): number => {
    const [left, right] = [Math.max(0, Math.floor(x - radius)), Math.min(width, Math.ceil(x + radius))];
    const [top, bottom] = [Math.max(0, Math.floor(y - radius)), Math.min(height, Math.ceil(y + radius))];
    const area = Math.max(0, right - left) * Math.max(0, bottom - top);
    if (area === 0) return 0;
    const sumTo = (column: number, row: number) => sums[row * (width + 1) + column] ?? 0;
    return (sumTo(right, bottom) - sumTo(left, bottom) - sumTo(right, top) + sumTo(left, top)) / area;
  };
  const [x, y] = [field.x * scale, field.y * scale];
  if (shareAt(x, y) >= leastShare) return field;
  let best = { value: 0, x, y };
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      const share = shareAt(column + 0.5, row + 0.5);
      if (share < leastShare) continue;
      const distance = Math.hypot(column - x, row - y) / Math.hypot(width, height);
      const value = 1 + share - priceOfDistance * distance;
      if (value > best.value) best = { value, x: column + 0.5, y: row + 0.5 };
    }
  }
  return best.value === 0 ? field : { ...field, x: best.x / scale, y: best.y / scale };
}

/** Returns 1 for each pixel that differs from the background, which is the median of the border. */
function tissueIn({ width, height, data }: SmallPicture): Uint8Array {
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
    return difference >= leastDifference ? 1 : 0;
  });
}

/** Returns, for each corner of a pixel, how many pixels left of and above it show tissue. */
function sumsOf(tissue: Uint8Array, { width, height }: Size): Uint32Array {
  const sums = new Uint32Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let inRow = 0;
    for (let x = 0; x < width; x++) {
      inRow += tissue[y * width + x] ?? 0;
      sums[(y + 1) * (width + 1) + x + 1] = (sums[y * (width + 1) + x + 1] ?? 0) + inRow;
    }
  }
  return sums;
}

/** Loads a thumbnail, which the browser has from the catalogue as a rule, and decodes it. */
export async function loadSmallPicture(address: string, signal: AbortSignal): Promise<SmallPicture> {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`The thumbnail was answered with ${response.status}.`);
  const bitmap = await createImageBitmap(await response.blob());
  const { width, height } = bitmap;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('The browser has no canvas.');
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return { width, height, data: context.getImageData(0, 0, width, height).data };
}
