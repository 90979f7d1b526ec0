/** Tests the command that imports and exports the annotations of a dataset. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listAnnotationLayers, listAnnotations } from '@lamina/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type TestServer, testServer } from '../testing/test-server.ts';
import { exportDataset, importDataset } from './dataset-files.ts';

function createFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-annotations-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

const cell = {
  type: 'Feature',
  id: '6423a977-ffff-48db-affc-cd11632010f0',
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: {
    objectType: 'annotation',
    classification: { name: 'Tumor', color: [200, 0, 0] },
    measurements: { Area: 'NaN' },
  },
};

describe('npm run annotations (import and export of a whole dataset)', () => {
  const printedSentences: string[] = [];
  const dependenciesOf = ({ services: { db, now, audit } }: TestServer) => ({
    db,
    now,
    audit,
    printLine: (sentence: string) => void printedSentences.push(sentence),
  });

  it('imports a.geojson into a new layer of the slide a.svs, exports the same annotation, and prints what the format asap cannot store', async () => {
    const server = await testServer();
    const owner = await server.fixtures.user();
    const image = await server.fixtures.image({
      dataset_name: 'Set',
      file_name: 'a.svs',
      width: 9,
      height: 9,
    });
    await server.fixtures.image({ dataset_name: 'Set', file_name: 'ab.svs' }); // gets no layer from a.geojson
    const [importFolder, exportFolder] = [createFolder(), createFolder()];
    fs.writeFileSync(path.join(importFolder, 'a.geojson'), JSON.stringify([cell]));
    fs.writeFileSync(path.join(importFolder, 'unknown.geojson'), JSON.stringify([cell]));
    const options = {
      dataset: 'set',
      folder: importFolder,
      owner: owner.email,
      layerName: null,
      isPrivate: false,
    };
    await importDataset(dependenciesOf(server), { ...options, isDryRun: true });
    expect(printedSentences.at(-1)).toBe('1 of 2 files can be imported. Nothing has been changed.');
    await importDataset(dependenciesOf(server), { ...options, isDryRun: false });
    expect(printedSentences.at(-1)).toBe('1 of 2 files imported');

    const reader = server.as(await server.fixtures.user());
    const { body } = await reader.call(listAnnotationLayers, { params: { imageId: image.id } });
    expect(body.layers).toMatchObject([
      { name: 'a', owner: owner.uid, source: 'import', annotation_count: 1 },
    ]);
    const list = await reader.call(listAnnotations, { params: { layerId: body.layers[0]?.id ?? '' } });
    expect(JSON.parse(String(list.body))).toMatchObject({ features: [cell] });

    await exportDataset(dependenciesOf(server), {
      dataset: 'Set',
      folder: exportFolder,
      format: 'qupath',
      withPrivate: false,
    });
    const [file = ''] = fs.readdirSync(exportFolder);
    expect(file).toMatch(/^a\.svs\.a\.[\da-f]{8}\.geojson$/);
    const text = fs.readFileSync(path.join(exportFolder, file), 'utf8');
    expect(text).toContain(cell.id);
    expect(text).toContain('"NaN"');

    await exportDataset(dependenciesOf(server), {
      dataset: 'Set',
      folder: createFolder(),
      format: 'asap',
      withPrivate: false,
    });
    expect(printedSentences.at(-2)).toMatch(/: measurements were left out: 1 annotations$/);
  });

  it('exports private layers only if they are requested', async () => {
    const server = await testServer();
    const image = await server.fixtures.image({ dataset_name: 'Set', file_name: 'a.svs' });
    await server.fixtures.layer({
      owner_uid: (await server.fixtures.user()).uid,
      image_id: image.id,
      visibility: 'private',
    });
    for (const withPrivate of [false, true]) {
      const folder = createFolder();
      await exportDataset(dependenciesOf(server), { dataset: 'Set', folder, format: 'csv', withPrivate });
      expect(fs.readdirSync(folder)).toHaveLength(withPrivate ? 1 : 0);
    }
  });

  it('exports a file with a shortened name when slide and layer have names of about 400 bytes (file systems allow 255)', async () => {
    const server = await testServer();
    const name = 'ğ😀'.repeat(66);
    const image = await server.fixtures.image({ dataset_name: 'Set', file_name: `${name}.svs` });
    const { uid } = await server.fixtures.user();
    await server.fixtures.layer({ owner_uid: uid, image_id: image.id, name });
    const folder = createFolder();
    await exportDataset(dependenciesOf(server), {
      dataset: 'Set',
      folder,
      format: 'csv',
      withPrivate: false,
    });
    const [file = ''] = fs.readdirSync(folder);
    expect(file).toMatch(/^(?:ğ_)+ğ?\.(?:ğ_)+ğ?\.[\da-f]{8}\.csv$/);
  });

  it('import throws an error that states the reason when the dataset has no slides or the owner of the layers has no account', async () => {
    const server = await testServer();
    await server.fixtures.image({ dataset_name: 'Set', file_name: 'a.svs' });
    const options = { layerName: null, isPrivate: false, isDryRun: false, folder: createFolder() };
    const importInto = (dataset: string) =>
      importDataset(dependenciesOf(server), { ...options, dataset, owner: 'unknown@example.org' });
    await expect(importInto('Yok')).rejects.toThrow('The dataset Yok has no slides.');
    await expect(importInto('Set')).rejects.toThrow('There is no account with the address');
  });
});
