/**
 * Uploads of slides by an administrator: files, folders, interruptions and rejections. The screens are in Turkish: 'Slayt yükle' uploads
 * slides, 'Veri kümesi' is the dataset, 'Hazır' means ready, 'Duraklat' pauses, 'Sürdür' resumes, 'İptal et' cancels.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { buildDicom, buildSvs } from '../packages/slide/src/testing/index.ts';
import { paintPlain } from '../packages/slide/src/testing/paint-tissue.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect, slideName, test } from './test.ts';

let folder: string;
test.beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'lamina-uploads-'));
});
test.afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Writes a slide file of at least `sizeBytes` bytes. The random bytes at its end are not part of the slide, and readers ignore
 * them.
 */
async function writeSlideFile(name: string, sizeBytes = 0): Promise<string> {
  const picture = paintPlain(512, 512, [214, 120, 176]);
  const slide = await buildSvs({ width: 512, height: 512, tileSize: 256, picture });
  const padding = randomBytes(Math.max(0, sizeBytes - slide.length));
  const file = path.join(folder, name);
  await writeFile(file, Buffer.concat([slide, padding]));
  return file;
}

async function openUploads(page: Page): Promise<void> {
  await page.goto('/admin/slides');
  await page.getByRole('button', { name: 'Slayt yükle' }).click();
  await expect(page.getByRole('heading', { name: 'Slayt yükle' })).toBeVisible();
}

const panelIn = (page: Page) => page.getByRole('region', { name: 'Slayt yükle' });
const datasetIn = (page: Page) => panelIn(page).getByRole('combobox', { name: 'Veri kümesi' });
const chooseFiles = (page: Page, files: string | readonly string[]) =>
  panelIn(page)
    .locator('input[type=file][multiple]')
    .setInputFiles(typeof files === 'string' ? files : [...files]);
const chooseFolder = (page: Page, folderPath: string) =>
  panelIn(page).locator('input[webkitdirectory]').setInputFiles(folderPath);
/** Returns the line of a file in the list of uploads. */
const lineOf = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Yüklemeler' }).getByRole('listitem').filter({ hasText: name });
/** Completes the dialog that asks who may see a new dataset (all users, or only those with a grant), and starts the upload. */
async function createDataset(
  page: Page,
  access: 'Tüm üyeler' | 'Yalnızca erişim verdiklerim',
): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Yeni veri kümesi oluşturulsun mu?' });
  await dialog.getByRole('radio', { name: access }).check();
  await dialog.getByRole('button', { name: 'Yüklemeyi başlat' }).click();
}
/** Options of expectations that wait for the upload and the ingest of a slide. */
const ingestTimeout = { timeout: 60_000 };

test.describe('an upload with the name of an existing slide', () => {
  test.use({ expectedConsoleErrors: /409/ });

  test('an upload with the name of an existing slide is rejected, and the existing slide stays in the viewer', async ({
    openPageAs,
  }) => {
    test.slow(); // waits until the server has ingested the slide
    const page = await openPageAs('admin');
    await openUploads(page);

    await chooseFiles(page, await writeSlideFile('kidney-1.svs'));
    await expect(page.getByText('Önce bir veri kümesi seçin veya yazın.')).toBeVisible();
    await datasetIn(page).fill('Yüklenenler');
    await page.getByRole('button', { name: 'Yüklemeyi başlat' }).click();
    await createDataset(page, 'Tüm üyeler');
    await expect(lineOf(page, 'kidney-1.svs')).toContainText('Hazır', ingestTimeout);

    await page.getByRole('button', { name: 'Listeden kaldır: kidney-1.svs' }).click();
    await writeSlideFile('kidney-1.svs', 100_000); // another slide with the same name
    await chooseFiles(page, path.join(folder, 'kidney-1.svs'));
    await expect(lineOf(page, 'kidney-1.svs').getByText(/üzerine yazılmaz/i)).toBeVisible();

    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: /Yüklenenler/ }).click();
    await expect(page.getByRole('button', { name: /kidney-1\.svs/ })).toBeVisible();
  });
});

test('files that are not slides are rejected in the browser, without an upload request', async ({
  openPageAs,
}) => {
  const page = await openPageAs('admin');
  const calls: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') calls.push(request.url());
  });
  await openUploads(page);
  await datasetIn(page).fill('Yüklenenler');
  const notes = path.join(folder, 'notes.txt');
  await writeFile(notes, 'no slide');
  await writeFile(path.join(folder, 'alone.mrxs'), 'no folder');
  await chooseFiles(page, [notes, path.join(folder, 'alone.mrxs')]);
  const alert = page.getByRole('alert').filter({ hasText: 'Yüklenmeyecek dosyalar' });
  await expect(alert.getByText('Tanınan bir slayt biçimi değil.')).toBeVisible();
  await expect(alert.getByText(/Yanındaki klasör de gerekli/)).toBeVisible();
  await test.step('dropped instead of chosen', async () => {
    const dataTransfer = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['no slide'], 'dropped.txt'));
      return transfer;
    });
    await panelIn(page)
      .getByText('Dosyaları veya klasörleri buraya bırakın')
      .dispatchEvent('drop', { dataTransfer });
    await expect(alert.getByText('dropped.txt')).toBeVisible();
  });
  expect(calls.filter((url) => url.includes('/admin/upload'))).toEqual([]);
});

test('an uploaded folder of DICOM files becomes one upload and one slide', async ({ openPageAs }) => {
  test.slow(); // waits until the server has ingested the slide
  const series = path.join(folder, 'Case 7');
  await mkdir(path.join(series, 'levels'), { recursive: true });
  await writeFile(path.join(series, 'a.dcm'), await buildDicom({ instance: '1' }));
  await writeFile(path.join(series, 'b.dcm'), await buildDicom({ instance: '2', downsample: 4 }));
  await writeFile(path.join(series, '.DS_Store'), 'not a slide');
  const page = await openPageAs('admin');
  await openUploads(page);
  await datasetIn(page).fill('DICOM');
  await chooseFolder(page, series);
  await createDataset(page, 'Tüm üyeler');
  await expect(lineOf(page, 'Case 7')).toContainText('Hazır', ingestTimeout);
  await expect(lineOf(page, 'Case 7')).toContainText('2 / 2 dosya');
});

test('an upload to a new dataset asks who may see the dataset, and restricts the dataset before the slide is uploaded', async ({
  openPageAs,
}) => {
  test.slow(); // waits until the server has ingested the slide
  const page = await openPageAs('admin');
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== 'GET' && /\/admin\/(uploads|datasets)$/.test(pathname)) {
      calls.push(`${request.method()} ${pathname.replace('/api/v1', '')}`);
    }
  });
  await openUploads(page);
  await datasetIn(page).fill('Gizli seri');
  await chooseFiles(page, await writeSlideFile('secret-1.svs'));
  const dialog = page.getByRole('dialog', { name: 'Yeni veri kümesi oluşturulsun mu?' });
  await expect(dialog).toContainText('“Gizli seri” adlı bir veri kümesi yok');
  await expect(dialog).toContainText('bütün aktif kullanıcılara görünür');
  expect(calls).toEqual([]);
  await expectNoAxeFindings(page);
  await createDataset(page, 'Yalnızca erişim verdiklerim');
  await expect(lineOf(page, 'secret-1.svs')).toContainText('Hazır', ingestTimeout);
  expect(calls).toEqual(['PUT /admin/datasets', 'POST /admin/uploads']);

  const member = await openPageAs('user');
  await member.goto('/wsi-viewer');
  await expect(member.getByRole('button', { name: slideName })).toBeVisible();
  await expect(member.getByText('Gizli seri')).toHaveCount(0);
});

test.describe('an upload', () => {
  test.use({ expectedConsoleErrors: /ERR_|Failed to load resource/ });

  test('an upload resumes where it stopped after a network failure and after a reload of the page', async ({
    openPageAs,
  }) => {
    test.slow(); // waits until the server has ingested the slide
    const file = await writeSlideFile('large.svs', 12 * 1024 * 1024); // several parts
    const page = await openPageAs('admin');
    /** Offset in the file, in bytes, of each part that the page has sent. */
    const offsets: number[] = [];
    /** Number of further requests that reach the server; later requests fail. */
    let remainingRequests = 2;
    await page.route(/\/admin\/upload-files\/[^/]+$/, async (route) => {
      const request = route.request();
      if (request.method() !== 'PATCH') return route.continue();
      if (remainingRequests <= 0) return route.abort('connectionreset');
      remainingRequests -= 1;
      offsets.push(Number(request.headers()['upload-offset']));
      return route.continue();
    });

    await openUploads(page);
    await datasetIn(page).fill('Kesilenler');
    await chooseFiles(page, file);
    await createDataset(page, 'Tüm üyeler');
    await expect(lineOf(page, 'large.svs')).toContainText('Sunucuya ulaşılamıyor', ingestTimeout);

    await test.step('the upload resumes automatically when the network works for one request', async () => {
      remainingRequests = 1;
      await expect.poll(() => offsets.length, ingestTimeout).toBe(3);
      expect(offsets[2]).toBeGreaterThan(offsets[1] ?? Number.NaN);
      await expect(lineOf(page, 'large.svs')).toContainText('Sunucuya ulaşılamıyor', ingestTimeout);
    });

    await test.step('after a reload the upload resumes when the user chooses the same file', async () => {
      page.on('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await openUploads(page);
      await expect(lineOf(page, 'large.svs')).toContainText('Yarım kaldı');
      remainingRequests = Number.POSITIVE_INFINITY;
      await chooseFiles(page, file); // without choosing a dataset, because the upload already has one
      await expect(lineOf(page, 'large.svs')).toContainText('Hazır', ingestTimeout);
      expect(offsets.at(3)).toBeGreaterThan(offsets[2] ?? Number.NaN);
    });
  });

  test('an upload can be paused and cancelled with the mouse, and resumed with the keyboard', async ({
    openPageAs,
  }) => {
    test.slow(); // checks the page with axe in both colour schemes
    const file = await writeSlideFile('paused.svs', 6 * 1024 * 1024);
    const page = await openPageAs('admin');
    // Requests that send a part of the file stay without a response.
    let areRequestsHeld = true;
    await page.route(/\/admin\/upload-files\/[^/]+$/, (route) =>
      areRequestsHeld && route.request().method() === 'PATCH'
        ? new Promise<void>(() => {})
        : route.continue(),
    );
    await openUploads(page);
    await datasetIn(page).fill('Duraklatılanlar');
    await chooseFiles(page, file);
    await createDataset(page, 'Tüm üyeler');
    await page.getByRole('button', { name: 'Duraklat: paused.svs' }).click();
    await expect(lineOf(page, 'paused.svs')).toContainText('Duraklatıldı');

    await test.step('the upload is resumed by keyboard', async () => {
      await page.getByRole('button', { name: 'Sürdür: paused.svs' }).press('Enter');
      await expect(lineOf(page, 'paused.svs')).toContainText('Gönderiliyor');
    });
    await expectNoAxeFindings(page);
    areRequestsHeld = false;
    await page.getByRole('button', { name: 'İptal et: paused.svs' }).click();
    await expect(lineOf(page, 'paused.svs')).toHaveCount(0);
  });
});
