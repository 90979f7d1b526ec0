/**
 * Longer workflows with annotations: outlining and discussing a tumour, importing and exporting QuPath files, and managing
 * layers.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import {
  drawTriangle,
  openSlide,
  annotationPanel as panel,
  annotationRow as row,
  savedIndicator,
  startDrawing,
  test,
} from './annotation-steps.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect } from './test.ts';

const detailsPanel = (page: Page) => page.getByRole('region', { name: 'Selected annotation' });

/** Chooses an action in the menu of the annotation layer. */
async function chooseLayerAction(page: Page, item: string): Promise<void> {
  await panel(page).getByRole('button', { name: 'Layer actions' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

test.describe('annotating a tumour', () => {
  test.use({ expectedConsoleErrors: /ERR_FAILED|ERR_INTERNET_DISCONNECTED|Failed to load resource/ });
  test.setTimeout(120_000); // two browsers and many steps

  test('a colleague sees a shared annotation with its description, and a change that its author made offline once the author is online again', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const slide = await openSlide(page);
    // Measures a distance and keeps the measurement as an annotation.
    await page.keyboard.press('m');
    await page.mouse.click(slide.x - 120, slide.y - 120);
    await page.mouse.click(slide.x + 120, slide.y - 120);
    await page.getByRole('button', { name: 'Keep the measurements as annotations' }).click();
    await page.keyboard.press('Escape');

    await startDrawing(page);
    await expect(row(page, /^Line/)).toBeVisible();
    await drawTriangle(page, slide);
    await expect(row(page, /^Area/)).toHaveAttribute('aria-pressed', 'true');
    const textBeforeErasing = await row(page, /^Area/).textContent();
    // The brush with Alt erases a vessel from the selected area.
    await page.keyboard.press('b');
    await page.keyboard.down('Alt');
    await page.mouse.move(slide.x - 6, slide.y + 25);
    await page.mouse.down();
    await page.mouse.move(slide.x + 6, slide.y + 25, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await expect.poll(() => row(page, /^Area/).textContent()).not.toBe(textBeforeErasing);
    await page.keyboard.press('1'); // assigns the first annotation class
    await detailsPanel(page).getByRole('textbox', { name: 'Description' }).fill('Invades the vessel.');
    await detailsPanel(page).getByRole('textbox', { name: 'Name' }).fill('Tumour');
    await detailsPanel(page).getByRole('textbox', { name: 'Name' }).press('Enter');
    await expect(row(page, /^Tumour/)).toBeVisible();
    await expect(savedIndicator(page)).toHaveText('Saved');
    await panel(page).getByRole('combobox', { name: 'Who can see the layer?' }).selectOption('members');

    const colleague = await openPageAs('user');
    await openSlide(colleague);
    await startDrawing(colleague);
    await expect(colleague.locator('[data-live]')).toBeAttached(); // the page receives changes of other users
    await row(colleague, /^Tumour/).click();
    await expect(detailsPanel(colleague).getByRole('textbox', { name: 'Description' })).toHaveValue(
      'Invades the vessel.',
    );

    // A change that is made offline is sent after a reload when the server is reachable.
    await page.route('**/api/v1/annotation-layers/*/changes', (route) => route.abort());
    await detailsPanel(page).getByRole('textbox', { name: 'Name' }).fill('Tumour, pT2');
    await detailsPanel(page).getByRole('textbox', { name: 'Name' }).press('Enter');
    await expect(page.getByText('Offline: 1 change kept on this computer')).toBeVisible();
    await page.unroute('**/api/v1/annotation-layers/*/changes');
    const sent = page.waitForResponse((response) => response.url().endsWith('/changes') && response.ok());
    await page.reload();
    await sent;
    await expect(row(colleague, /^Tumour, pT2/)).toBeVisible({ timeout: 1000 });
    await startDrawing(page);
    await expect(row(page, /^Tumour, pT2/)).toBeVisible();
    await expect(row(page, /^Line/)).toBeVisible();

    await row(page, /^Tumour, pT2/).click();
    await detailsPanel(page).getByRole('button', { name: 'History' }).click();
    await expect(page.getByRole('dialog', { name: 'History of the annotation' })).toContainText('Drawn');
    await expectNoAxeFindings(page, 'history');
  });
});

/** Returns the GeoJSON coordinates of a square of 50 × 50 pixels. @param x left edge in pixels of full resolution */
const squareAt = (x: number) => [
  [
    [x, 100],
    [x + 50, 100],
    [x + 50, 150],
    [x, 150],
    [x, 100],
  ],
];
/** Returns an annotation as QuPath writes it to GeoJSON. @param x left edge in pixels of full resolution */
const newQuPathFeature = (id: string, x: number, name: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Polygon', coordinates: squareAt(x) },
  properties: {
    objectType: 'annotation',
    name,
    classification: { name: 'Stroma', color: [150, 200, 150] },
    measurements: { 'Nucleus: Area': 12.25 },
  },
});

test('a QuPath file is validated and imported, and after one annotation is renamed, the exported file differs only in that name', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openSlide(page);
  await startDrawing(page);
  const features = [
    newQuPathFeature('6423a977-ffff-48db-affc-cd11632010f0', 600, 'Left'),
    newQuPathFeature('a9d3d08f-35cd-46d4-93d6-08d71feefaa6', 700, 'Right'),
  ];
  const featureWithoutCoordinates = {
    ...features[0],
    id: '0d9a3f1e-51a1-4c7c-a6ab-0b6d3a0b5a11',
    geometry: { type: 'Polygon', coordinates: [] },
  };
  const choosing = page.waitForEvent('filechooser');
  await chooseLayerAction(page, 'Import a file…');
  const text = JSON.stringify({
    type: 'FeatureCollection',
    features: [...features, featureWithoutCoordinates],
  });
  await (await choosing).setFiles({
    name: 'section.geojson',
    mimeType: 'application/geo+json',
    buffer: Buffer.from(text),
  });
  const dialog = page.getByRole('dialog', { name: 'Import annotations: section.geojson' });
  await expect(dialog).toContainText('The file contains 2 valid annotations.');
  await expect(dialog).toContainText('Stroma: 2');
  await expect(dialog).toContainText('Annotation 3:'); // the reason why the third one is invalid
  await expectNoAxeFindings(page, 'import');
  await dialog.getByRole('button', { name: 'Import (2)' }).click();
  await expect(row(page, /^Left/)).toBeVisible();

  await row(page, /^Right/).click();
  await detailsPanel(page).getByRole('textbox', { name: 'Name' }).fill('Changed');
  await detailsPanel(page).getByRole('textbox', { name: 'Name' }).press('Enter');
  await expect(savedIndicator(page)).toHaveText('Saved');

  const downloading = page.waitForEvent('download');
  await chooseLayerAction(page, 'QuPath (GeoJSON)');
  const file = await (await downloading).path();
  const exported = JSON.parse(await readFile(file, 'utf8')) as { features: { id: string }[] };
  const exportedFeature = (index: number) => exported.features.find(({ id }) => id === features[index]?.id);
  expect(exported.features).toHaveLength(2);
  expect(exportedFeature(0)).toMatchObject(features[0] ?? {});
  expect(exportedFeature(1)).toMatchObject({
    ...features[1],
    properties: { ...features[1]?.properties, name: 'Changed' },
  });
});

test('a file written by QuPath 0.5 is imported, and after one annotation is renamed, the exported file differs only in that name', async ({
  openPageAs,
}) => {
  const quPathFile = path.join(process.env.TEST_SLIDES ?? 'no-slides', 'annotations', 'qupath05.geojson');
  test.skip(!existsSync(quPathFile), 'The annotation files in TEST_SLIDES are missing.');
  const text = await readFile(quPathFile, 'utf8');
  const { features } = JSON.parse(text) as { features: { id: string; properties: object }[] };
  const page = await openPageAs('user');
  await openSlide(page);
  await startDrawing(page);
  const choosing = page.waitForEvent('filechooser');
  await chooseLayerAction(page, 'Import a file…');
  await (await choosing).setFiles(quPathFile);
  const dialog = page.getByRole('dialog', { name: 'Import annotations: qupath05.geojson' });
  await expect(dialog).toContainText('The file contains 3 valid annotations.');
  await dialog.getByRole('button', { name: 'Import (3)' }).click();

  await row(page, /^UT/).click();
  await detailsPanel(page).getByRole('textbox', { name: 'Name' }).fill('Uterus');
  await detailsPanel(page).getByRole('textbox', { name: 'Name' }).press('Enter');
  await expect(row(page, /^Uterus/)).toBeVisible();
  await expect(savedIndicator(page)).toHaveText('Saved');

  const downloading = page.waitForEvent('download');
  await chooseLayerAction(page, 'QuPath (GeoJSON)');
  const file = await (await downloading).path();
  const exported = JSON.parse(await readFile(file, 'utf8')) as { features: unknown[] };
  const byId = (list: readonly unknown[]) =>
    (list as { id: string }[]).toSorted((a, b) => a.id.localeCompare(b.id));
  const expected = features.map((feature) =>
    feature === features[0] ? { ...feature, properties: { ...feature.properties, name: 'Uterus' } } : feature,
  );
  expect(byId(exported.features)).toEqual(byId(expected));
});

test('an annotation layer can be renamed, locked, deleted, and restored both with Undo and from the list of deleted layers', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(savedIndicator(page)).toHaveText('Saved');
  await chooseLayerAction(page, 'Rename');
  await page.getByRole('textbox', { name: 'Layer name' }).fill('Margins');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const layer = panel(page).getByRole('combobox', { name: 'Layer', exact: true });
  await expect(layer).toContainText('Margins');

  await chooseLayerAction(page, 'Lock the layer');
  await expect(page.getByText('You can view this layer, but not change it')).toBeVisible();
  const sharing = panel(page).getByRole('combobox', { name: 'Who can see the layer?' });
  await expect(sharing).toBeDisabled();
  await chooseLayerAction(page, 'Unlock the layer');
  await expect(sharing).toBeEnabled();
  await expect(page.getByText('You can view this layer, but not change it')).toBeHidden();

  await chooseLayerAction(page, 'Delete the layer');
  await expect(row(page, /^Area/)).toBeHidden();
  await panel(page).getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, /^Area/)).toBeVisible();

  await chooseLayerAction(page, 'Delete the layer');
  await expect(row(page, /^Area/)).toBeHidden();
  await chooseLayerAction(page, 'Deleted layers…');
  await page.getByRole('button', { name: 'Restore: Margins' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(row(page, /^Area/)).toBeVisible();
});
