/** Viewer pages that draw a large slide with WebGL. The tiles are created in the page, so that no server is measured. */
import type { Browser, Page } from '@playwright/test';
import { countGraphics, forceDrawer, serveLargeSlide } from '../../../e2e/renderer-probe.ts';
import { callApi, signIn } from '../../services/api-client.ts';
import { administrator, type RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

export const fourK: Viewport = { width: 3840, height: 2160 };
/** Playwright's timeout. It is long because a 4K page without a graphics card is slow on a busy machine. */
const timeoutMs = 180_000;

/** Opens a page with the viewer. @param prepare adds scripts that run before those of the page */
export type OpenPage = (viewport: Viewport, prepare: (page: Page) => Promise<void>) => Promise<Page>;

/** Signs in and returns a function that opens a page. */
export async function createPageOpener(
  browser: Browser,
  { url, imageIdOf }: RunningProduct,
): Promise<OpenPage> {
  const token = await signIn(url, administrator);
  const { user } = await callApi<{ user: object }>(url, 'POST', '/auth/verify', { body: { token } });
  return async (viewport, prepare) => {
    const page = await browser.newPage({ viewport });
    page.setDefaultTimeout(timeoutMs);
    await page.addInitScript(
      ([storedToken, storedUser]) => {
        localStorage.setItem('auth_token', storedToken);
        localStorage.setItem('user_data', storedUser);
      },
      [token, JSON.stringify(user)] as const,
    );
    await forceDrawer(page, 'webgl');
    await countGraphics(page); // counts textures, decoded images and other graphics resources
    await prepare(page);
    await serveLargeSlide(page, 200_000); // replaces the slide of the URL below; pixels per side
    await page.goto(`${url}/wsi-viewer?image=${imageIdOf(slideNames.scan)}&x=4000&y=100000&zoom=1`);
    await page.getByTitle('Scale bar').waitFor();
    return page;
  };
}
