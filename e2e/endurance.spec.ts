/** Interruptions that must not disturb the reading of a slide: a network failure, and a second tab that is closed. */
import { expect, fullResolutionLevel, slideName, test, withoutPrefetch } from './test.ts';

test.describe('a network failure while a slide is open', () => {
  test.use({ expectedConsoleErrors: /ERR_INTERNET_DISCONNECTED|Failed to load resource|Failed to fetch/ });

  test('a network failure does not change the view of the open slide, and failed tiles are loaded when the network is back', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await withoutPrefetch(page);
    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: slideName }).click();
    await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
    await expect(page.getByText('Loading tiles...')).toBeHidden();

    await page.context().setOffline(true);
    const failedTile = page.waitForEvent('requestfailed', (request) =>
      request.url().includes('/image_files/'),
    );
    for (let i = 0; i < 4; i++) await page.keyboard.press('+');
    await failedTile;
    // Waits for the end of the movement, after which the URL contains the view and no longer changes.
    let viewUrl = '';
    const isUrlUnchanged = () => {
      const isUnchanged = viewUrl === page.url();
      viewUrl = page.url();
      return isUnchanged;
    };
    await expect.poll(isUrlUnchanged, { intervals: [700] }).toBe(true);

    const loadedTile = page.waitForResponse(
      (response) =>
        new RegExp(`/image_files/(${fullResolutionLevel}|${fullResolutionLevel - 1})/`).test(
          response.url(),
        ) && response.ok(),
    );
    await page.context().setOffline(false);
    await loadedTile;
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(page.url()).toBe(viewUrl);
  });
});

test('when the viewer is left in one of two tabs with the same slide, the other tab still loads tiles without an error', async ({
  openPageAs,
}) => {
  const first = await openPageAs('user');
  await withoutPrefetch(first);
  await first.goto('/wsi-viewer');
  await first.getByRole('button', { name: slideName }).click();
  await expect(first.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  const second = await first.context().newPage();
  await second.goto(first.url());
  await expect(second.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await second.goto('/dashboard');

  const tile = first.waitForResponse((response) => response.url().includes('/image_files/'));
  for (let i = 0; i < 3; i++) await first.keyboard.press('+');
  expect((await tile).status()).toBe(200);
  await expect(first.getByRole('alert')).toHaveCount(0);
});
