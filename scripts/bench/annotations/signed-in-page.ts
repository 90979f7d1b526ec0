/** Browser contexts in which a user is signed in without the login screen, and the panning of the slide in their pages. */
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { callApi } from '../../services/api-client.ts';
import type { RunningProduct } from '../product.ts';

/** Size of the window in CSS pixels. */
export const viewport = { width: 1920, height: 1080 };
/** Playwright's timeout. It is long because a page without a graphics card is slow on a busy machine. */
const timeoutMs = 180_000;

/** URL of a running server, and the bearer token of a user. */
export type SignedIn = Pick<RunningProduct, 'url' | 'token'>;

/** Opens a new browser context in which the user's sign-in is stored, as the web app stores it. */
export async function openContext(browser: Browser, { url, token }: SignedIn): Promise<BrowserContext> {
  const { user } = await callApi<{ user: object }>(url, 'POST', '/auth/verify', { body: { token } });
  const localStorage = [
    { name: 'auth_token', value: token },
    { name: 'user_data', value: JSON.stringify(user) },
  ];
  const storageState = { cookies: [], origins: [{ origin: url, localStorage }] };
  const context = await browser.newContext({ viewport, storageState });
  context.setDefaultTimeout(timeoutMs);
  return context;
}

/** Returns the middle of the viewer on the screen, in CSS pixels. */
export async function middleOf(page: Page): Promise<readonly [x: number, y: number]> {
  const box = await page.getByRole('application').boundingBox();
  if (box === null) throw new Error('The slide is not visible.');
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Drags the slide in circles around a point (radius 60 CSS pixels), in 60 moves. Then waits 1 s, until the slide rests. */
export async function panAround(page: Page, [x, y]: readonly [x: number, y: number]): Promise<void> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; step < 60; step++) {
    await page.mouse.move(x + Math.sin(step / 5) * 60, y + Math.cos(step / 5) * 60);
  }
  await page.mouse.up();
  await page.waitForTimeout(1000);
}
