/**
 * A search compares text only in entries that the caller may see, so its duration reveals nothing about other entries. These
 * tests record the texts that the database compares, instead of measuring time.
 */
import {
  getImage,
  getImagePosition,
  listImageGroups,
  listImageRows,
  listImages,
  updateDataset,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { prepareSearch } from '../store/catalogue-search.ts';
import { watchQueries } from '../store/database.ts';
import { analyzeImages, openSearchObserver, recordPlans } from '../store/testing/search-observer.ts';
import { type DatabaseKind, everyDatabaseKind, openTestDatabase } from '../store/testing/test-database.ts';
import { startCatalogueServer } from './testing/catalogue-server.ts';

/** Starts a server with entries whose names contain `visible` if a viewer may see them, and otherwise `secret`. */
async function startCatalogueWithSecrets(databaseKind: DatabaseKind, restrictedDatasets: number) {
  const observer = await openSearchObserver(databaseKind);
  // The server closes its database with this function, which removes the observer first.
  const testCatalogue = await startCatalogueServer({ db: observer.db, close: observer.close });
  const { server, admin } = testCatalogue;
  const at = server.clock.now().toISOString();
  const { image } = server.fixtures;
  await image({ file_name: 'visible 1.svs', dataset_name: 'Open 1', organ_type: 'Liver' });
  await image({ file_name: 'visible 2.svs', dataset_name: 'Zebra', organ_type: 'Liver' });
  await image({ file_name: 'visible 3.svs' });
  for (const dataset_name of ['Open 1', 'Zebra', null]) {
    const datasetAndOrgan = { dataset_name, organ_type: 'Liver' };
    await image({ ...datasetAndOrgan, file_name: 'secret hidden.svs', hidden_at: at });
    await image({ ...datasetAndOrgan, file_name: 'secret failed.svs', status: 'failed' });
    await image({ ...datasetAndOrgan, file_name: 'secret pending.svs', status: 'pending' });
    await image({ ...datasetAndOrgan, file_name: 'secret removed.svs', removed_at: at });
    await image({ ...datasetAndOrgan, file_name: 'secret missing.svs', missing_since: at });
  }
  // `Open 01` has the same sort key as the open dataset `Open 1`, because leading zeros do not count.
  const restricted = Array.from({ length: restrictedDatasets }, (_, i) => (i === 0 ? 'Open 01' : `Set ${i}`));
  let secretId = '';
  for (const dataset of restricted) {
    ({ id: secretId } = await image({
      file_name: 'secret 4711.svs',
      dataset_name: dataset,
      organ_type: 'Liver',
    }));
    await image({ file_name: 'visible between.svs', dataset_name: `${dataset} open` });
    await admin.call(updateDataset, { body: { dataset, access: 'restricted', listed: false } });
  }
  await observer.comparedTexts(); // discards the texts that the database has compared so far
  return { ...testCatalogue, observer, secretId, restricted };
}

describe.each(everyDatabaseKind)(
  'catalogue search with restricted and hidden entries (database: %s)',
  (databaseKind) => {
    it.each([
      ['3 restricted datasets', 3],
      ['70 restricted datasets (too many for sort key ranges in one query)', 70],
    ])(
      'evaluates SQL LIKE in the image list only on entries that the caller may see, with %s',
      async (_, count) => {
        const { listedNames, reader, observer } = await startCatalogueWithSecrets(databaseKind, count);
        const queries: Record<string, string>[] = [
          { q: 'secret' },
          { q: 'visible' },
          { q: '4711' },
          { q: 'nothing has this' },
          { q: 'visible', limit: '2' },
          { q: 'secret', limit: '2' },
          { q: '4711', organ: 'Liver' },
          { q: 'visible', organ: 'Liver', limit: '1' },
        ];
        const { body } = await reader.call(listImages, { query: { limit: '2' } });
        queries.push({ q: '4711', cursor: body.next_cursor ?? '' });
        await observer.comparedTexts(); // discards the texts of the request above
        for (const query of queries) {
          const foundNames = await listedNames(reader, query);
          expect([query, foundNames.filter((name) => name.startsWith('secret'))]).toEqual([query, []]);
          if (query.q === 'visible') expect(foundNames.length).toBeGreaterThan(0);
          const comparedTexts = await observer.comparedTexts();
          expect([query, comparedTexts.length > 0]).toEqual([query, true]);
          expect([query, comparedTexts.filter((text) => text.includes('secret'))]).toEqual([query, []]);
        }
      },
    );

    it.each([
      ['3 restricted datasets', 3],
      ['70 restricted datasets (too many for sort key ranges in one query)', 70],
    ])(
      'evaluates SQL LIKE in the endpoints groups, rows and position only on entries that the caller may see, with %s',
      async (_, count) => {
        const { list, reader, observer } = await startCatalogueWithSecrets(databaseKind, count);
        const [visible] = await list(reader);
        await observer.comparedTexts(); // discards the texts of the request above
        for (const query of [
          { q: 'secret 4711' },
          { q: 'visible' },
          { q: 'visible', organ: 'Liver' },
          { q: 'visible', order: 'largest' },
        ]) {
          await reader.call(listImageGroups, { query });
          await reader.call(listImageRows, { query });
          await reader.call(getImagePosition, { params: { imageId: visible?.id ?? '' }, query });
          const comparedTexts = await observer.comparedTexts();
          expect([query, comparedTexts.length > 0]).toEqual([query, true]);
          expect([query, comparedTexts.filter((text) => text.includes('secret'))]).toEqual([query, []]);
        }
      },
    );

    it('evaluates SQL LIKE, for a caller without a grant, on no entry of a restricted dataset, even if the search is limited to this dataset', async () => {
      const { listedNames, reader, observer, restricted } = await startCatalogueWithSecrets(databaseKind, 3);
      for (const dataset of [...restricted, 'Open 1', 'no such dataset']) {
        const foundNames = await listedNames(reader, { q: 's', dataset });
        expect([dataset, foundNames]).toEqual([dataset, dataset === 'Open 1' ? ['visible 1.svs'] : []]);
        const comparedTexts = await observer.comparedTexts();
        expect([dataset, comparedTexts.filter((text) => text.includes('secret'))]).toEqual([dataset, []]);
      }
    });

    it('finds entries of restricted datasets and hidden entries for an administrator', async () => {
      const { listedNames, admin } = await startCatalogueWithSecrets(databaseKind, 3);
      // Not '4711': a search also matches ids, and a random id can contain any four digits.
      expect(await listedNames(admin, { q: 'secret 4711' })).toEqual(Array(3).fill('secret 4711.svs'));
      expect(await listedNames(admin, { q: 'hidden' })).toEqual(Array(3).fill('secret hidden.svs'));
    });

    it('returns 404 after the same number of queries for an unknown id and for the id of an invisible entry', async () => {
      const { server, viewer, secretId, observer } = await startCatalogueWithSecrets(databaseKind, 3);
      const token = await server.fixtures.token(viewer);
      const queriesFor = async (imageId: string) => {
        await server.as(token).call(getImage, { params: { imageId } }); // fills the caches
        let queries = 0;
        watchQueries(observer.db, () => queries++);
        const { status } = await server.as(token).call(getImage, { params: { imageId } });
        return [status, queries];
      };
      const unknown = await queriesFor('00000000-0000-4000-8000-000000000000');
      expect(unknown[0]).toBe(404);
      expect(await queriesFor(secretId)).toEqual(unknown);
    });
  },
);

describe.skipIf(!everyDatabaseKind.includes('PostgreSQL'))(
  'query plans of GET /image-catalog/images (database: PostgreSQL)',
  () => {
    it('show, for a caller without a grant, that no entry of a restricted dataset is read and the trigram index of all entries is not used', async () => {
      const { db, url, close } = await openTestDatabase('PostgreSQL');
      await prepareSearch(db);
      const { server, reader, admin } = await startCatalogueServer({ db, close });
      // With 600 entries, the index in list order is by far the cheapest for ten of them. The restricted dataset comes first, so
      // a query that filtered row by row would read its rows.
      for (let i = 0; i < 600; i++) {
        const datasetAndOrgan = { dataset_name: `Set ${i % 3}`, organ_type: 'Liver' };
        await server.fixtures.image({ ...datasetAndOrgan, file_name: `${i}.svs` });
      }
      await admin.call(updateDataset, { body: { dataset: 'Set 0', access: 'restricted', listed: false } });
      await analyzeImages(db);
      const recorder = await recordPlans(url ?? '', 'sort_key');
      await reader.call(listImages, { query: { limit: '10' } });
      await reader.call(listImages, { query: { limit: '10', organ: 'Liver' } });
      await reader.call(listImages, { query: { limit: '10', dataset: 'Set 1' } });
      await reader.call(listImages, { query: { limit: '10', dataset: 'Set 0' } });
      const lists = await recorder.plans();
      expect(lists).toHaveLength(3); // none for the restricted dataset
      for (const { text, plan } of lists) {
        const removed = [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, rows]) => Number(rows));
        expect([text, removed.filter((rows) => rows > 0)]).toEqual([text, []]);
      }
      await reader.call(listImages, { query: { limit: '10', q: '1' } });
      const searches = await recorder.plans();
      expect(searches.length).toBeGreaterThan(0);
      for (const { plan } of searches) expect(plan).not.toContain('images_by_words');
    });
  },
);
