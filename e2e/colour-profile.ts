/** Stubbed server responses with which the slide of the tests seems to have a colour profile (the ICC profile of its scanner). */
import type { Page } from '@playwright/test';

/**
 * A colour table, which the server computes from a colour profile: the sRGB colours of a grid of scanned colours with `size` nodes per
 * axis. The samples are bytes in the order red, green, blue; the red axis varies fastest.
 */
export interface ColourTable {
  readonly size: number;
  readonly samples: Buffer;
}

/** Creates a colour table. @param colourOf returns the sRGB colour of a scanned colour; both have components from 0 to 1 */
export function buildColourTable(
  size: number,
  colourOf: (rgb: readonly number[]) => readonly number[],
): ColourTable {
  const lastNode = size - 1;
  const colours = Array.from({ length: size ** 3 }, (_, index) => {
    const node = [index % size, Math.floor(index / size) % size, Math.floor(index / size ** 2)];
    return colourOf(node.map((position) => position / lastNode));
  });
  return { size, samples: Buffer.from(colours.flat().map((sample) => Math.round(255 * sample))) };
}

/**
 * Adds a colour profile to the descriptor of the slide and serves the table.
 *
 * @returns a list that grows by the URL of each tile that the page requests
 */
export async function serveProfile(page: Page, { size, samples }: ColourTable): Promise<string[]> {
  const requestedTiles: string[] = [];
  await page.route('**/image.dzi*', async (route) => {
    const response = await route.fetch();
    const profile = `<ColourProfile xmlns="urn:lamina:colour" Name="AT2" Bytes="1687824" TableNodes="${size}"/>`;
    await route.fulfill({
      response,
      body: (await response.text())
        .replace(/<ColourProfile[^>]*>/, '')
        .replace('</Image>', `${profile}</Image>`),
    });
  });
  await page.route('**/colour-table*', (route) =>
    route.fulfill({ contentType: 'application/octet-stream', body: samples }),
  );
  page.on('request', (request) => {
    if (request.url().includes('/image_files/')) requestedTiles.push(request.url());
  });
  return requestedTiles;
}
