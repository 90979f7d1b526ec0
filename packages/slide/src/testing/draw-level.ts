import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import type { Slide } from '../slide.ts';

/** All tiles of a level, decoded and put together; what the scanner left empty is the slide's background. */
export async function drawLevel(slide: Slide, index: number): Promise<Raster> {
  const level = slide.levels[index];
  if (!level) throw new Error(`There is no level ${index}`);
  const { width, height, tileWidth, tileHeight, outside = { left: 0, top: 0 } } = level;
  const rgb = new Uint8Array(width * height * 3);
  const { r, g, b } = slide.background;
  for (let i = 0; i < rgb.length; i += 3) rgb.set([r, g, b], i);
  for (let row = 0; row < level.rows; row++) {
    for (let column = 0; column < level.columns; column++) {
      const tile = await slide.readTile({ level: index, column, row });
      if (!tile) continue;
      const picture = await decodeImage(tile);
      const left = column * tileWidth - outside.left;
      const top = row * tileHeight - outside.top;
      // Where padding stands before the picture, a tile that has none begins with it.
      const skippedX = left < 0 ? picture.width - (left + tileWidth) : 0;
      const skippedY = top < 0 ? picture.height - (top + tileHeight) : 0;
      const [x, y] = [Math.max(0, left), Math.max(0, top)];
      const used = Math.min(picture.width - skippedX, width - x) * 3;
      for (let line = 0; line < picture.height - skippedY && y + line < height; line++) {
        const from = ((skippedY + line) * picture.width + skippedX) * 3;
        rgb.set(picture.rgb.subarray(from, from + used), ((y + line) * width + x) * 3);
      }
    }
  }
  return { width, height, rgb };
}

/** How far two pictures of the same size are apart: the mean over all samples, and the largest of them. */
export function distance(one: Raster, other: Raster): { readonly mean: number; readonly most: number } {
  if (one.width !== other.width || one.height !== other.height) throw new Error('Their sizes differ');
  let [sum, most] = [0, 0];
  for (let i = 0; i < one.rgb.length; i++) {
    const far = Math.abs((one.rgb[i] as number) - (other.rgb[i] as number));
    sum += far;
    most = Math.max(most, far);
  }
  return { mean: sum / one.rgb.length, most };
}
