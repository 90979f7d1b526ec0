/** Section 2 of the specification, WSI Viewer: the catalogue, the panels around the slide, what fails. */
import { expect, slideName, test } from './test.ts';

test('images are grouped by dataset, with their count, and the first group is open after load', async ({
  visit,
}) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await expect(page.getByRole('heading', { name: 'Image Catalog' })).toBeVisible();
  const groups = page.getByRole('button', { expanded: true });
  await expect(groups).toHaveCount(1);
  await expect(page.getByRole('button', { name: /Mouse kidney.*3/ })).toBeVisible();
});

test('within a group images are sorted by file name, in natural order', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByPlaceholder('Search images...').fill('kidney');
  const names = page.getByText(/^section-\d+\.svs$/);
  await expect(names).toHaveText(['section-1.svs', 'section-2.svs', 'section-10.svs']);
});

test('search is case-insensitive and hides groups with no match', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByPlaceholder('Search images...').fill('SECTION-10');
  await expect(page.getByText('section-10.svs')).toBeVisible();
  await expect(page.getByText('section-2.svs')).toBeHidden();
  await expect(page.getByRole('button', { name: /^Unknown \d/ })).toBeHidden();
});

test('a selected image opens once, and its panel says name, dataset and organ', async ({ visit }) => {
  const page = await visit('user');
  let descriptors = 0;
  page.on('request', (request) => {
    if (request.url().includes('/image.dzi')) descriptors += 1;
  });
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  const panel = page.getByRole('region', { name: 'Selected Image' });
  await expect(panel).toContainText('Name');
  await expect(panel).toContainText('Dataset');
  await expect(panel).toContainText('Organ');
  await expect(panel).toContainText('N/A');
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.getByRole('button', { name: slideName }).click();
  await page.waitForLoadState('networkidle');
  expect(descriptors, 'selecting the selected image does nothing').toBe(1);
});

test('the top bar says that the session is active, and the stats overlay what it has done', async ({
  visit,
}) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: /stats/i }).click();
  for (const label of [/session id/i, /valid/i, /age/i, /requests/i]) {
    await expect(page.getByText(label).first()).toBeVisible();
  }
});

test('the session is revoked on leaving the viewer', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  const revoked = page.waitForRequest(
    (request) => request.method() === 'DELETE' && request.url().includes('/auth/image-session/'),
  );
  await page.getByRole('link', { name: 'Lamina', exact: true }).click();
  await revoked;
});

test.describe('when the list cannot be loaded', () => {
  test.use({ expectedComplaints: /status of 50\d|ERR_FAILED/ });

  for (const [what, answer, says] of [
    [
      'the server failed',
      { status: 500, json: {} },
      'Internal server error. Please try refreshing your session.',
    ],
    ['another status has no message', { status: 502, body: 'x' }, 'Server error (502)'],
    ['nobody answers', null, 'No response from server. Please check your connection.'],
  ] as const) {
    test(`an error with Retry says so: ${what}`, async ({ visit }) => {
      const page = await visit('user');
      await page.route('**/image-catalog/images**', (route) =>
        answer === null ? route.abort() : route.fulfill(answer),
      );
      await page.goto('/wsi-viewer');
      await expect(page.getByText(says)).toBeVisible();
      await page.unroute('**/image-catalog/images**');
      await page.getByRole('button', { name: 'Retry' }).click();
      await expect(page.getByText(says)).toBeHidden();
      await expect(page.getByRole('button', { name: /Mouse kidney/ })).toBeVisible();
    });
  }
});
