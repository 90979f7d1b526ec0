import type { Raster } from '../decode/raster.ts';

/**
 * Paints an image that resembles stained tissue on glass: soft pink and violet shapes with grain. Its numbers are chosen
 * by eye. Images of the same size are equal. No two tiles of an image are equal, so that tests detect a misplaced tile.
 */
export function paintTissue(width: number, height: number): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const wave = Math.sin(x / 37 + Math.sin(y / 53) * 2) + Math.cos(y / 41 - Math.sin(x / 67) * 2);
      const tissue = Math.max(0, Math.min(1, (wave + 1) / 2));
      const grain = ((x * 7 + y * 13 + ((x * y) % 31)) % 17) - 8;
      const at = (y * width + x) * 3;
      rgb[at] = Math.max(0, Math.min(255, 244 - tissue * 90 + grain * tissue - (x / width) * 24));
      rgb[at + 1] = Math.max(0, Math.min(255, 240 - tissue * 150 + grain * tissue));
      rgb[at + 2] = Math.max(0, Math.min(255, 244 - tissue * 70 + grain * tissue - (y / height) * 24));
    }
  }
  return { width, height, rgb };
}

/** Paints an image of one colour. */
export function paintPlain(
  width: number,
  height: number,
  [r, g, b]: readonly [number, number, number],
): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let at = 0; at < rgb.length; at += 3) rgb.set([r, g, b], at);
  return { width, height, rgb };
}
