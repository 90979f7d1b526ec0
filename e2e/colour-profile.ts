/** Gives the slide of the tests a colour profile. */
import type { Page } from '@playwright/test';

/** Samples of a table with so many grid points per axis; red varies fastest. */
export interface ServedTable {
  readonly size: number;
  readonly samples: Buffer;
}

/** @param colourOf sRGB of a colour as scanned, both 0 to 1 */
export function tableOf(size: number, colourOf: (rgb: readonly number[]) => readonly number[]): ServedTable {
  const last = size - 1;
  const samples = Array.from({ length: size ** 3 }, (_, point) =>
    colourOf(
      [point % size, Math.floor(point / size) % size, Math.floor(point / size ** 2)].map((i) => i / last),
    ),
  );
  return { size, samples: Buffer.from(samples.flat().map((sample) => Math.round(255 * sample))) };
}

/** Makes the server describe a colour profile and send this table. Returns the addresses of the tiles that were requested. */
export async function serveProfile(page: Page, { size, samples }: ServedTable): Promise<string[]> {
  const requested: string[] = [];
  await page.route('**/image.dzi*', async (route) => {
    const answer = await route.fetch();
    const profile = `<ColourProfile xmlns="urn:lamina:colour" Name="AT2" Bytes="1687824" TableNodes="${size}"/>`;
    await route.fulfill({
      response: answer,
      body: (await answer.text())
        .replace(/<ColourProfile[^>]*>/, '')
        .replace('</Image>', `${profile}</Image>`),
    });
  });
  await page.route('**/colour-table*', (route) =>
    route.fulfill({ contentType: 'application/octet-stream', body: samples }),
  );
  page.on('request', (request) => {
    if (request.url().includes('/image_files/')) requested.push(request.url());
  });
  return requested;
}
