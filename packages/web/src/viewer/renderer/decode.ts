/** Decodes tiles, in the page and in the worker that corrects their colours. */
import { applyTable } from '../colours/apply-table.ts';
import type { ColourTable } from '../colours/colour-table.ts';

/**
 * Decodes a tile without the browser's colour management: only the renderer corrects the colours of the file.
 *
 * @throws DOMException 'InvalidStateError' when the bytes are not an image
 */
export function decode(blob: Blob): Promise<ImageBitmap> {
  return createImageBitmap(blob, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
}

/** Decodes a tile and corrects its colours by a colour table. Blocks the thread for about 3 ms per tile of 240 × 240 pixels. */
export async function decodeCorrected(blob: Blob, table: ColourTable): Promise<ImageBitmap> {
  const storedBitmap = await decode(blob);
  const canvas = new OffscreenCanvas(storedBitmap.width, storedBitmap.height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser does not support 2D canvas.');
  context.drawImage(storedBitmap, 0, 0);
  storedBitmap.close();
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  applyTable(image.data, table);
  context.putImageData(image, 0, 0);
  return canvas.transferToImageBitmap();
}
