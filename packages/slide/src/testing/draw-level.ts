import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import type { Slide } from '../slide.ts';

/** All tiles of a level, decoded and put together; what the scanner left empty is the slide's background. */
export async function drawLevel(slide: Slide, index: number): Promise<Raster> {
  const level = slide.levels[index];
  if (!level) throw new Error(`There is no level ${index}`);
  const { width, height, tileWidth, tileHeight } = level;
  const rgb = new Uint8Array(width * height * 3);
  const { r, g, b } = slide.background;
  for (let i = 0; i < rgb.length; i += 3) rgb.set([r, g, b], i);
  for (let row = 0; row < level.rows; row++) {
    for (let column = 0; column < level.columns; column++) {
      const tile = await slide.readTile({ level: index, column, row });
      if (!tile) continue;
      const picture = await decodeImage(tile);
      const [x, y] = [column * tileWidth, row * tileHeight];
      const used = Math.min(tileWidth, width - x) * 3;
      for (let line = 0; line < tileHeight && y + line < height; line++) {
        const from = line * picture.width * 3;
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
