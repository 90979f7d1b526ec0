import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, type Raster } from '../decode/raster.ts';
import type { Level, Slide, TileAddress } from '../model/slide.ts';
import { paintPlain } from './paint-tissue.ts';

/** Decodes and joins all tiles of a level. Tiles that the slide does not store show its background colour. */
export async function drawLevel(slide: Slide, index: number): Promise<Raster> {
  const { width, height, columns, rows } = levelOf(slide, index);
  const rgb = new Uint8Array(width * height * 3);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const { x, y, raster } = await drawTile(slide, { level: index, column, row });
      const rowBytes = raster.width * 3;
      for (let pixelRow = 0; pixelRow < raster.height; pixelRow++) {
        const pixels = raster.rgb.subarray(pixelRow * rowBytes, (pixelRow + 1) * rowBytes);
        rgb.set(pixels, ((y + pixelRow) * width + x) * 3);
      }
    }
  }
  return { width, height, rgb };
}

/**
 * Decodes the part of a tile that is inside its level, and returns it with its position in the level in pixels. A tile
 * that the slide does not store shows its background colour.
 */
export async function drawTile(
  slide: Slide,
  address: TileAddress,
): Promise<{ readonly x: number; readonly y: number; readonly raster: Raster }> {
  const level = levelOf(slide, address.level);
  const { tileWidth, tileHeight, leadingPadding: padding = { left: 0, top: 0 } } = level;
  const [left, top] = [address.column * tileWidth - padding.left, address.row * tileHeight - padding.top];
  const [x, y] = [Math.max(0, left), Math.max(0, top)];
  const width = Math.min(left + tileWidth, level.width) - x;
  const height = Math.min(top + tileHeight, level.height) - y;
  const tile = await slide.readTile(address);
  const { r, g, b } = slide.background;
  if (!tile) return { x, y, raster: paintPlain(width, height, [r, g, b]) };
  const picture = await decodeImage(tile);
  // In a file that is stored rotated, tiles of the first column or row have their padding before the image.
  const paddingLeft = left < 0 ? picture.width - width : 0;
  const paddingTop = top < 0 ? picture.height - height : 0;
  return { x, y, raster: cropRaster(picture, paddingLeft, paddingTop, width, height) };
}

function levelOf(slide: Slide, index: number): Level {
  const level = slide.levels[index];
  if (!level) throw new Error(`The slide has no level ${index}`);
  return level;
}
