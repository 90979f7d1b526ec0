import type { Locator } from '@playwright/test';

/** Returns the mean colour (0 to 255 per channel) of the central part of an element, which has half its width and half its height. */
export async function meanColourOf(element: Locator): Promise<{ red: number; green: number; blue: number }> {
  const picture = await element.screenshot();
  return element.page().evaluate(async (base64) => {
    const blob = new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]);
    const bitmap = await createImageBitmap(blob);
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    if (context === null) throw new Error('The browser created no canvas context.');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(width / 4, height / 4, width / 2, height / 2);
    const sums = [0, 0, 0];
    for (let index = 0; index < data.length; index += 4) {
      for (const channel of [0, 1, 2]) sums[channel] = (sums[channel] ?? 0) + (data[index + channel] ?? 0);
    }
    const [red = 0, green = 0, blue = 0] = sums.map((sum) => sum / (data.length / 4));
    return { red, green, blue };
  }, picture.toString('base64'));
}
