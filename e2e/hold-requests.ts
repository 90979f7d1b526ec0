import type { Page, Route } from '@playwright/test';

/**
 * Holds back the page's requests whose URL matches the pattern.
 *
 * @returns a function that sends the held requests; later requests are then sent at once
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
