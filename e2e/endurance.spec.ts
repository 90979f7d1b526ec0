/** Interruptions that a reader of a slide does not notice: a network failure, a second tab. */
import { expect, fullResolution, slideName, test, withoutPrefetch } from './test.ts';

test.describe('a network failure while a slide is open', () => {
  test.use({ expectedComplaints: /ERR_INTERNET_DISCONNECTED|Failed to load resource|Failed to fetch/ });

  test('leaves the view unchanged, and failed tiles load when the network is back', async ({ visit }) => {
    const page = await visit('user');
    await withoutPrefetch(page);
    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: slideName }).click();
    await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
    await expect(page.getByText('Loading tiles...')).toBeHidden();

    await page.context().setOffline(true);
    const lost = page.waitForEvent('requestfailed', (request) => request.url().includes('/image_files/'));
    for (let i = 0; i < 4; i++) await page.keyboard.press('+');
    await lost;
    // Until the movement has come to its end: the address is written when it has.
    let view = '';
    const stands = () => {
      const stood = view === page.url();
      view = page.url();
      return stood;
    };
    await expect.poll(stands, { intervals: [700] }).toBe(true);

    const arrived = page.waitForResponse(
      (answer) =>
        new RegExp(`/image_files/(${fullResolution}|${fullResolution - 1})/`).test(answer.url()) &&
        answer.ok(),
    );
    await page.context().setOffline(false);
    await arrived;
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(page.url()).toBe(view);
  });
});

test('closing one of two tabs with the same slide does not affect the other', async ({ visit }) => {
  const first = await visit('user');
  await withoutPrefetch(first);
  await first.goto('/wsi-viewer');
  await first.getByRole('button', { name: slideName }).click();
  await expect(first.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  const second = await first.context().newPage();
  await second.goto(first.url());
  await expect(second.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await second.goto('/dashboard');

  const tile = first.waitForResponse((answer) => answer.url().includes('/image_files/'));
  for (let i = 0; i < 3; i++) await first.keyboard.press('+');
  expect((await tile).status()).toBe(200);
  await expect(first.getByRole('alert')).toHaveCount(0);
});
