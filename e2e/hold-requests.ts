import type { Page, Route } from '@playwright/test';

/**
 * Holds back all requests of the page whose URL matches.
 *
 * @returns a function that sends the held requests and holds back no more
 */
export async function holdRequests(page: Page, urlPattern: string | RegExp): Promise<() => Promise<void>> {
  const heldRoutes: Route[] = [];
  let isHolding = true;
  await page.route(urlPattern, async (route) => {
    if (isHolding) heldRoutes.push(route);
    else await route.fallback();
  });
  return async () => {
    isHolding = false;
    for (const route of heldRoutes) await route.fallback();
  };
}
