/** Changes responses of the server in the browser, so that the slide of the tests seems to have a colour profile. */
import type { Page } from '@playwright/test';

/** A colour table: RGB samples of a grid with `size` nodes per axis; red varies fastest. */
export interface ServedTable {
  readonly size: number;
  readonly samples: Buffer;
}

/** Creates a colour table. @param colourOf returns the sRGB colour of a scanned colour; both have components from 0 to 1 */
export function tableOf(size: number, colourOf: (rgb: readonly number[]) => readonly number[]): ServedTable {
  const lastNode = size - 1;
  const samples = Array.from({ length: size ** 3 }, (_, index) => {
    const [red, green, blue] = [index % size, Math.floor(index / size) % size, Math.floor(index / size ** 2)];
    return colourOf([red, green, blue].map((node) => node / lastNode));
  });
  return { size, samples: Buffer.from(samples.flat().map((sample) => Math.round(255 * sample))) };
}

/** Adds a colour profile to the descriptor of the slide and serves the table. @returns a list to which the URLs of requested tiles are added */
export async function serveProfile(page: Page, { size, samples }: ServedTable): Promise<string[]> {
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
