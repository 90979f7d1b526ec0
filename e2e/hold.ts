import type { Page, Route } from '@playwright/test';

/** Holds back what is asked for at an address. @returns a function that lets it go */
export async function hold(page: Page, address: string | RegExp): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isHolding = true;
  await page.route(address, async (route) => {
    if (isHolding) held.push(route);
    else await route.fallback();
  });
  return async () => {
    isHolding = false;
    for (const route of held) await route.fallback();
  };
}
