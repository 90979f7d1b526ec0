/** Uploads by an administrator: files, folders, interruptions and rejections. */
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

/** A slide of so many bytes: what lies behind its end, no reader looks at. */
async function slideFile(name: string, sizeBytes = 0): Promise<string> {
  const picture = paintPlain(512, 512, [214, 120, 176]);
  const slide = await buildSvs({ width: 512, height: 512, tileSize: 256, picture });
  const rest = randomBytes(Math.max(0, sizeBytes - slide.length));
  const file = path.join(folder, name);
  await writeFile(file, Buffer.concat([slide, rest]));
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
const chooseFolder = (page: Page, place: string) =>
  panelIn(page).locator('input[webkitdirectory]').setInputFiles(place);
const lineOf = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Yüklemeler' }).getByRole('listitem').filter({ hasText: name });
/** Answers the question that a new dataset raises. */
async function createDataset(
  page: Page,
  access: 'Bütün kullanıcılar' | 'Yalnızca erişim verdiklerim',
): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Yeni veri kümesi oluşturulsun mu?' });
  await dialog.getByRole('radio', { name: access }).check();
  await dialog.getByRole('button', { name: 'Yüklemeyi başlat' }).click();
}
const readIn = { timeout: 60_000 };

test.describe('an upload of the same name', () => {
  test.use({ expectedComplaints: /409/ });

  test('is rejected once the first slide of that name is in the viewer', async ({ visit }) => {
    test.slow();
    const page = await visit('admin');
    await openUploads(page);

    await chooseFiles(page, await slideFile('kidney-1.svs'));
    await expect(page.getByText('Önce bir veri kümesi seçin veya yazın.')).toBeVisible();
    await datasetIn(page).fill('Yüklenenler');
    await page.getByRole('button', { name: 'Yüklemeyi başlat' }).click();
    await createDataset(page, 'Bütün kullanıcılar');
    await expect(lineOf(page, 'kidney-1.svs')).toContainText('Hazır', readIn);

    await page.getByRole('button', { name: 'Listeden kaldır: kidney-1.svs' }).click();
    await slideFile('kidney-1.svs', 100_000); // another slide of the same name
    await chooseFiles(page, path.join(folder, 'kidney-1.svs'));
    await expect(lineOf(page, 'kidney-1.svs').getByText(/üzerine yazılmaz/i)).toBeVisible();

    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: /Yüklenenler/ }).click();
    await expect(page.getByRole('button', { name: /kidney-1\.svs/ })).toBeVisible();
  });
});

test('a file that is no slide is rejected before anything is sent', async ({ visit }) => {
  const page = await visit('admin');
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

test('a folder of DICOM files is one upload, and one slide', async ({ visit }) => {
  test.slow();
  const series = path.join(folder, 'Case 7');
  await mkdir(path.join(series, 'levels'), { recursive: true });
  await writeFile(path.join(series, 'a.dcm'), await buildDicom({ instance: '1' }));
  await writeFile(path.join(series, 'b.dcm'), await buildDicom({ instance: '2', downsample: 4 }));
  await writeFile(path.join(series, '.DS_Store'), 'not a slide');
  const page = await visit('admin');
  await openUploads(page);
  await datasetIn(page).fill('DICOM');
  await chooseFolder(page, series);
  await createDataset(page, 'Bütün kullanıcılar');
  await expect(lineOf(page, 'Case 7')).toContainText('Hazır', readIn);
  await expect(lineOf(page, 'Case 7')).toContainText('2 / 2 dosya');
});

test('an upload to a new dataset asks who may see it, and a restricted dataset is restricted before its slide arrives', async ({
  visit,
}) => {
  test.slow();
  const page = await visit('admin');
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== 'GET' && /\/admin\/(uploads|datasets)$/.test(pathname)) {
      calls.push(`${request.method()} ${pathname.replace('/api/v1', '')}`);
    }
  });
  await openUploads(page);
  await datasetIn(page).fill('Gizli seri');
  await chooseFiles(page, await slideFile('secret-1.svs'));
  const dialog = page.getByRole('dialog', { name: 'Yeni veri kümesi oluşturulsun mu?' });
  await expect(dialog).toContainText('“Gizli seri” adlı bir veri kümesi yok');
  await expect(dialog).toContainText('bütün aktif kullanıcılara görünür');
  expect(calls).toEqual([]);
  await expectNoAxeFindings(page);
  await createDataset(page, 'Yalnızca erişim verdiklerim');
  await expect(lineOf(page, 'secret-1.svs')).toContainText('Hazır', readIn);
  expect(calls).toEqual(['PUT /admin/datasets', 'POST /admin/uploads']);

  const member = await visit('user');
  await member.goto('/wsi-viewer');
  await expect(member.getByRole('button', { name: slideName })).toBeVisible();
  await expect(member.getByText('Gizli seri')).toHaveCount(0);
});

test.describe('an interrupted upload', () => {
  test.use({ expectedComplaints: /ERR_|Failed to load resource/ });

  test('continues where it stopped after a network failure and after the page was closed', async ({
    visit,
  }) => {
    test.slow();
    const file = await slideFile('large.svs', 12 * 1024 * 1024);
    const page = await visit('admin');
    const offsets: number[] = [];
    let letThrough = 2;
    await page.route(/\/admin\/upload-files\/[^/]+$/, async (route) => {
      const request = route.request();
      if (request.method() !== 'PATCH') return route.continue();
      if (letThrough <= 0) return route.abort('connectionreset');
      letThrough -= 1;
      offsets.push(Number(request.headers()['upload-offset']));
      return route.continue();
    });

    await openUploads(page);
    await datasetIn(page).fill('Kesilenler');
    await chooseFiles(page, file);
    await createDataset(page, 'Bütün kullanıcılar');
    await expect(lineOf(page, 'large.svs')).toContainText('Sunucuya ulaşılamıyor', readIn);

    await test.step('the network is back for a moment: it goes on by itself', async () => {
      letThrough = 1;
      await expect.poll(() => offsets.length, readIn).toBe(3);
      expect(offsets[2]).toBeGreaterThan(offsets[1] ?? Number.NaN);
      await expect(lineOf(page, 'large.svs')).toContainText('Sunucuya ulaşılamıyor', readIn);
    });

    await test.step('the page is opened anew: the same file goes on', async () => {
      page.on('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await openUploads(page);
      await expect(lineOf(page, 'large.svs')).toContainText('Yarım kaldı');
      letThrough = Number.POSITIVE_INFINITY;
      await chooseFiles(page, file); // without a dataset: it is the one it was begun for
      await expect(lineOf(page, 'large.svs')).toContainText('Hazır', readIn);
      expect(offsets.at(3)).toBeGreaterThan(offsets[2] ?? Number.NaN);
    });
  });

  test('can be paused, resumed and cancelled by the administrator', async ({ visit }) => {
    test.slow();
    const file = await slideFile('paused.svs', 6 * 1024 * 1024);
    const page = await visit('admin');
    let isHeld = true;
    await page.route(/\/admin\/upload-files\/[^/]+$/, (route) =>
      isHeld && route.request().method() === 'PATCH' ? new Promise<void>(() => {}) : route.continue(),
    );
    await openUploads(page);
    await datasetIn(page).fill('Duraklatılanlar');
    await chooseFiles(page, file);
    await createDataset(page, 'Bütün kullanıcılar');
    await page.getByRole('button', { name: 'Duraklat: paused.svs' }).click();
    await expect(lineOf(page, 'paused.svs')).toContainText('Duraklatıldı');

    await test.step('by the keyboard alone', async () => {
      await page.getByRole('button', { name: 'Sürdür: paused.svs' }).press('Enter');
      await expect(lineOf(page, 'paused.svs')).toContainText('Gönderiliyor');
    });
    await expectNoAxeFindings(page);
    isHeld = false;
    await page.getByRole('button', { name: 'İptal et: paused.svs' }).click();
    await expect(lineOf(page, 'paused.svs')).toHaveCount(0);
  });
});
