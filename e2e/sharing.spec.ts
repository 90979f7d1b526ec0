/**
 * Share links: a teacher creates a tour of five views and shares it; a student without an account follows the tour on a phone and answers its
 * question; the teacher reads the answer and revokes the link. A visitor sees the annotations of a shared slide. The screens are in Turkish:
 * 'Görünüm' is a view, 'Paylaş' shares, 'Sonraki' is the next view, 'Sunum' a presentation, 'Yanıt' an answer, 'Doğru' means correct.
 */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { test } from './annotation-steps.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect, slideName } from './test.ts';

const phone = { width: 390, height: 844 };
const lessonTitle = 'Ders 3'; // Lesson 3

// After the link is revoked, the student's page still requests its slide, and the link itself when it is opened again.
test.use({
  expectedConsoleErrors: /status of 40[14] .*(image-catalog\/proxy|share-links\/open|presentation-events)/,
});

/** Saves the current view of the viewer for a tour. */
async function saveView(teacher: Page, title: string) {
  await teacher.getByRole('button', { name: 'Save view' }).click();
  const dialog = teacher.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByLabel('Title').fill(title);
  await dialog.getByLabel('Text (optional)').fill(`${title}: önce kenara bakın.`);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

/** Creates a layer that all members may read, with one annotation. @returns the ids of the slide and the layer */
async function annotateSlide(productUrl: string, token: string) {
  const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
  const slide = (images as { id: string; file_name: string }[]).find(
    ({ file_name }) => file_name === slideName,
  );
  if (slide === undefined) throw new Error(`The catalogue does not list ${slideName}.`);
  const layer = await callApi(productUrl, 'POST', `/image-catalog/images/${slide.id}/annotation-layers`, {
    token,
    body: { name: 'ogrenci-listesi.geojson', visibility: 'members' },
  });
  const layerId = String(layer.id);
  const changes = [addTriangleChange()];
  await callApi(productUrl, 'POST', `/annotation-layers/${layerId}/changes`, { token, body: { changes } });
  return { imageId: slide.id, layerId };
}

/** Returns a change that adds a triangle to an annotation layer. */
function addTriangleChange() {
  const corners = [
    [200, 200],
    [900, 200],
    [900, 900],
    [200, 200],
  ];
  const feature = {
    type: 'Feature',
    id: randomUUID(),
    geometry: { type: 'Polygon', coordinates: [corners] },
    properties: { objectType: 'annotation', name: 'Kenar' },
  };
  return { op: 'put', feature, base_revision: null };
}

test('a teacher shares a tour of slide views with a question, and a student without an account answers the question on a phone', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(180_000); // two browsers and many steps
  const token = await administratorToken(product.url);
  const body = { dataset: 'Aperio', access: 'open', sharing: true };
  await callApi(product.url, 'PUT', '/admin/datasets', { token, body });
  const teacher = await openPageAs('user');
  const student = await openPageAs('anonymous');
  await student.setViewportSize(phone);

  await test.step('the teacher saves five views of a slide', async () => {
    await teacher.goto('/wsi-viewer');
    await teacher.getByRole('button', { name: new RegExp(slideName) }).click();
    for (let number = 1; number <= 5; number++) {
      await saveView(teacher, `Görünüm ${number}`);
      await teacher.getByRole('button', { name: 'Zoom in' }).click();
    }
  });

  await test.step('the teacher creates a tour of the views with a question', async () => {
    await teacher.goto('/collections');
    await teacher.getByRole('button', { name: 'Yeni koleksiyon' }).click();
    await teacher.getByRole('dialog').getByLabel('Başlık').fill(lessonTitle);
    await teacher.getByRole('button', { name: 'Oluştur' }).click();
    await teacher.getByRole('button', { name: 'Öğe ekle' }).click();
    for (let number = 1; number <= 5; number++) await teacher.getByLabel(`Görünüm ${number}`).check();
    await teacher.getByRole('button', { name: '5 öğe ekle' }).click();
    await teacher.getByRole('button', { name: 'Aşağı taşı: Görünüm 1' }).click();
    await teacher.getByRole('button', { name: 'Yukarı taşı: Görünüm 1' }).press('Enter');
    const second = teacher.getByRole('listitem').filter({ hasText: 'Görünüm 2' });
    await second.getByRole('button', { name: 'Soru ekle' }).click();
    await second.getByLabel('Soru metni').fill('Hangi boya?');
    await second.getByLabel('1. seçenek', { exact: true }).fill('PAS');
    await second.getByLabel('2. seçenek', { exact: true }).fill('H&E');
    await second.getByLabel('2. seçenek doğru').check();
    await second.getByLabel('Yanıttan sonraki açıklama').fill('Çekirdekler mavi.');
    // Scrolled to the top, because axe reports a button that the bar of the page partly covers as too small.
    await teacher.evaluate(() => window.scrollTo(0, 0));
    await expectNoAxeFindings(teacher);
    await teacher.getByRole('button', { name: 'Kaydet' }).click();
    await expect(teacher.getByRole('heading', { name: lessonTitle })).toBeVisible();
    await expectNoAxeFindings(teacher);
  });

  const shareUrl = await test.step('the teacher shares the tour for a week', async () => {
    await teacher.getByRole('button', { name: `Paylaş: ${lessonTitle}` }).click();
    const dialog = teacher.getByRole('dialog', { name: 'Koleksiyonu bağlantıyla paylaş' });
    await expect(dialog.getByLabel('Kaç gün geçerli olsun?')).toHaveValue('7');
    await dialog.getByRole('button', { name: 'Bağlantı oluştur' }).click();
    const field = teacher.getByRole('dialog', { name: 'Bağlantı hazır' }).getByLabel('Bağlantı');
    await expect(field).toHaveValue(/\/shared#[\w-]{43}$/);
    return field.inputValue();
  });

  await test.step('the student opens the tour on a phone and answers the question', async () => {
    const linkResponses: Promise<string>[] = [];
    student.on('response', (response) => {
      if (response.url().includes('/share-links/open')) linkResponses.push(response.text());
    });
    const tile = student.waitForResponse(/image_files/);
    await student.goto(`/shared${new URL(shareUrl).hash}`);
    await expect(student.getByRole('heading', { name: `${lessonTitle} · Görünüm 1` })).toBeVisible();
    expect((await tile).status()).toBe(200);
    await expect(student.getByText('Görünüm 1: önce kenara bakın.')).toBeVisible();
    await expect(student.getByText(slideName)).toHaveCount(0);
    await student.getByRole('button', { name: 'Sonraki' }).click();
    await student.getByLabel('H&E').check();
    await expectNoAxeFindings(student);
    // Before the answer, the browser has received neither the correct choice nor its explanation.
    expect((await Promise.all(linkResponses)).join()).not.toMatch(/"correct"|Çekirdekler/);
    await student.getByRole('button', { name: 'Yanıtla' }).click();
    await expect(student.getByText('Çekirdekler mavi.')).toBeVisible();
    await expect(student.getByRole('status').filter({ hasText: 'Doğru' })).toBeVisible();
    const scrollWidth = await student.evaluate(() => document.documentElement.scrollWidth);
    expect(scrollWidth).toBeLessThanOrEqual(phone.width);
  });

  await test.step('the student follows the presentation of the teacher, stops following, and follows again', async () => {
    await teacher.goto('/collections');
    await teacher.getByRole('link', { name: `Aç: ${lessonTitle}` }).click();
    await expect(teacher.getByRole('heading', { name: `${lessonTitle} · Görünüm 1` })).toBeVisible();
    await teacher.getByRole('button', { name: 'Sunumu başlat' }).click();
    await expect(student.getByRole('heading', { name: `${lessonTitle} · Görünüm 1` })).toBeVisible();
    await teacher.getByRole('button', { name: 'Sonraki' }).click();
    await teacher.getByRole('button', { name: 'Sonraki' }).click();
    await expect(student.getByRole('heading', { name: `${lessonTitle} · Görünüm 3` })).toBeVisible();
    await student.getByRole('button', { name: 'İzlemeyi bırak' }).click();
    await teacher.getByRole('button', { name: 'Sonraki' }).click();
    await expect(teacher.getByRole('heading', { name: `${lessonTitle} · Görünüm 4` })).toBeVisible();
    await expect(student.getByRole('heading', { name: `${lessonTitle} · Görünüm 3` })).toBeVisible();
    await student.getByRole('button', { name: 'Sunumu izle' }).click();
    await expect(student.getByRole('heading', { name: `${lessonTitle} · Görünüm 4` })).toBeVisible();
    await teacher.getByRole('button', { name: 'Sunumu bitir' }).click();
    await expect(student.getByRole('button', { name: 'İzlemeyi bırak' })).toHaveCount(0);
  });

  await test.step('the teacher reads the results', async () => {
    await teacher.goto('/collections');
    await teacher.getByRole('link', { name: `Yanıtlar: ${lessonTitle}` }).click();
    const row = teacher.getByRole('row', { name: /1\. ziyaretçi/ });
    await expect(row).toContainText('H&E');
    await expect(row).toContainText('Doğru');
    const download = teacher.waitForEvent('download');
    await teacher.getByRole('button', { name: 'CSV indir' }).click();
    expect((await download).suggestedFilename()).toBe('answers.csv');
  });

  await test.step('the open slide is closed within 2 s after the teacher has revoked the link', async () => {
    await teacher.goto('/dashboard/profile');
    const linkEndedHeading = student.getByRole('heading', { name: 'Bu bağlantı artık açılmıyor' });
    await teacher.getByRole('button', { name: new RegExp(lessonTitle) }).click();
    await expect(linkEndedHeading).toBeVisible({ timeout: 2000 });
    await student.reload();
    await expect(linkEndedHeading).toBeVisible();
  });
});

test('a visitor with a share link sees the annotations of the slide until the link is revoked, and cannot change them', async ({
  openPageAs,
  product,
}) => {
  const { url: productUrl } = product;
  const token = await administratorToken(productUrl);
  const dataset = { dataset: 'Aperio', access: 'open', sharing: true };
  await callApi(productUrl, 'PUT', '/admin/datasets', { token, body: dataset });
  const { imageId, layerId } = await annotateSlide(productUrl, token);
  const link = await callApi(productUrl, 'POST', '/share-links', {
    token,
    body: { target: { type: 'slide', id: imageId }, title: lessonTitle, show_annotations: true },
  });
  const visitor = await openPageAs('anonymous');
  await visitor.setViewportSize(phone);
  const annotations = visitor.getByRole('img', { name: 'Slayttaki işaretleme sayısı: 1' });
  const layerUrl = `${productUrl}/api/v1/annotation-layers/${layerId}`;

  const session =
    await test.step('the visitor opens the link, hides the annotations and shows them again', async () => {
      const opened = visitor.waitForResponse(/share-links\/open/);
      await visitor.goto(`/shared${new URL(String(link.url)).hash}`);
      const { session_id } = (await (await opened).json()) as { session_id: string };
      await expect(annotations).toBeVisible();
      await expect(visitor.getByText('ogrenci-listesi')).toHaveCount(0);
      const toggle = visitor.getByRole('button', { name: 'İşaretlemeler', exact: true });
      await toggle.click();
      await expect(annotations).toHaveCount(0);
      await toggle.click();
      await expect(annotations).toBeVisible();
      return session_id;
    });

  await test.step('the visitor cannot change the annotations', async () => {
    await visitor.keyboard.press('d'); // opens the drawing tools for accounts
    await expect(visitor.getByRole('toolbar', { name: /Drawing tools|Çizim araçları/ })).toHaveCount(0);
    const query = { session };
    const read = await visitor.request.get(`${layerUrl}/annotations`, { params: query });
    expect(read.status()).toBe(200);
    const data = { changes: [addTriangleChange()] };
    const changed = await visitor.request.post(`${layerUrl}/changes`, { params: query, data });
    expect(changed.status()).toBe(401);
    const deleted = await visitor.request.delete(layerUrl, { params: query });
    expect(deleted.status()).toBe(401);
    await visitor.reload();
    await expect(annotations).toBeVisible();
  });

  await test.step('the annotations disappear when the link is revoked', async () => {
    await callApi(productUrl, 'DELETE', `/share-links/${String(link.id)}`, { token });
    await expect(visitor.getByRole('heading', { name: 'Bu bağlantı artık açılmıyor' })).toBeVisible();
    await expect(annotations).toHaveCount(0);
    const read = await visitor.request.get(`${layerUrl}/annotations`, { params: { session } });
    expect([401, 404]).toContain(read.status());
  });
});
