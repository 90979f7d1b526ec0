/** Databases in which earlier versions left several spellings of one dataset: the server merges them when it starts. */
import { randomUUID } from 'node:crypto';
import { listAudit, listDatasets, listImages } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { searchTextOf, sortKeyOf } from '../domain/catalogue-order.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { testServer } from '../testing/test-server.ts';

/** A dataset name in Unicode forms NFC and NFD, which earlier versions stored as two datasets. */
const nfcName = 'Böbrek';
const nfdName = nfcName.normalize('NFD');
const at = '2026-11-01T00:00:00.000Z';

/** Content of the database of an earlier version. */
interface EarlierContents {
  /** The dataset of each slide; a dataset may occur several times. */
  readonly slides: readonly string[];
  /** The organ of each slide. */
  readonly organs?: readonly string[];
  /** Datasets that are stored as restricted. */
  readonly restricted?: readonly string[];
  /** Datasets that are stored as open; other datasets have no stored settings and count as open. */
  readonly open?: readonly string[];
  /** Datasets that members can see, and request, while they are restricted. */
  readonly listed?: readonly string[];
  /** Datasets by account id. */
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  /** Datasets of the grants, by account id, that include the right to download original files. */
  readonly downloads?: Readonly<Record<string, readonly string[]>>;
  /** Datasets for which each account has requested access, oldest request first. Request number n has the reason `reason n`. */
  readonly requests?: Readonly<Record<string, readonly string[]>>;
}

/** Writes rows as an earlier version has stored them, and starts a server with this database, which merges the spellings. */
async function startWithEarlierDatabase(databaseKind: DatabaseKind, contents: EarlierContents) {
  const database = await openTestDatabase(databaseKind);
  const { db } = database;
  const {
    slides,
    organs = [],
    restricted = [],
    open = [],
    listed = [],
    grants = {},
    downloads = {},
    requests = {},
  } = contents;
  for (const [number, dataset_name] of slides.entries()) {
    const image = {
      id: randomUUID(),
      file_name: `${number}.svs`,
      dataset_name,
      organ_type: organs[number] ?? null,
    };
    await db
      .insertInto('images')
      .values({
        ...image,
        root: 'slides',
        path: `${number}.svs`,
        members: '[]',
        fingerprint: null,
        sort_key: sortKeyOf(image),
        search_text: searchTextOf(image),
        edited_fields: '[]',
        status: 'ready',
        size_bytes: 1,
        created_at: at,
        updated_at: at,
      })
      .execute();
  }
  const datasetRows = [
    ...restricted.map((name) => ({ name, access: 'restricted' as const })),
    ...open.map((name) => ({ name, access: 'open' as const })),
  ];
  for (const row of datasetRows) {
    const is_listed = listed.includes(row.name) ? (1 as const) : (0 as const);
    await db
      .insertInto('datasets')
      .values({ ...row, is_listed, updated_at: at })
      .execute();
  }
  for (const uid of new Set([...Object.keys(grants), ...Object.keys(requests)])) {
    await db
      .insertInto('users')
      .values({
        uid,
        email: `${uid}@example.org`,
        email_key: `${uid}@example.org`,
        display_name: null,
        status: 'active',
        role: 'viewer',
        admin_approved: 1,
        created_at: at,
        updated_at: at,
        approval_date: at,
        expires_at: null,
      })
      .execute();
    for (const dataset of grants[uid] ?? []) {
      const may_download = downloads[uid]?.includes(dataset) ? (1 as const) : (0 as const);
      const grant = { uid, dataset, granted_by: 'admin', at, may_download };
      await db.insertInto('dataset_grants').values(grant).execute();
    }
    for (const [number, dataset] of (requests[uid] ?? []).entries()) {
      const request = { id: randomUUID(), uid, dataset, reason: `reason ${number}` };
      await db
        .insertInto('dataset_requests')
        .values({ ...request, at: `2026-11-0${number + 1}T00:00:00.000Z` })
        .execute();
    }
  }
  const server = await testServer({ database });
  const admin = server.as(await server.fixtures.admin());
  const member = server.as(await server.fixtures.user({ role: 'viewer' }));
  return {
    server,
    datasets: async () =>
      (await admin.call(listDatasets)).body.datasets.map(
        ({ grants: grantRows, requests: requestRows, ...dataset }) => ({
          ...dataset,
          grants: grantRows.map(({ uid }) => uid).sort(),
          requests: requestRows.map(({ reason }) => reason),
        }),
      ),
    downloaders: async () =>
      (await admin.call(listDatasets)).body.datasets.flatMap(({ grants: grantRows }) =>
        grantRows.filter(({ download }) => download).map(({ uid }) => uid),
      ),
    visibleToMember: async () =>
      (await member.call(listImages)).body.images.map(({ file_name }) => file_name),
    allImages: async () => (await admin.call(listImages)).body.images,
    auditDetails: async (action: string) =>
      (await admin.call(listAudit, { query: { action } })).body.entries.map(({ detail }) => detail),
  };
}

/** Fields of a dataset in the list of an administrator, unless a test expects other values. */
const defaults = { listed: false, grants: [], requests: [], sharing: false, identifiable_originals: false };

describe.each(databaseKinds)(
  'merging two spellings of a dataset name at the start of the server (database: %s)',
  (databaseKind) => {
    it.each([
      ['only the first spelling', [nfdName]],
      ['only the second spelling', [nfcName]],
      ['each spelling', [nfdName, nfcName]],
    ])('results in a restricted dataset when %s was restricted', async (_, restricted) => {
      const { visibleToMember, datasets } = await startWithEarlierDatabase(databaseKind, {
        slides: [nfdName, nfcName, 'Open'],
        restricted,
      });
      expect(await visibleToMember()).toEqual(['2.svs']);
      expect(await datasets()).toEqual([
        { ...defaults, name: nfcName, access: 'restricted', images: 2 },
        { ...defaults, name: 'Open', access: 'open', images: 1 },
      ]);
    });

    it('keeps the grant of an account only if the account had a grant to every restricted spelling', async () => {
      const grants = { both: [nfdName, nfcName], first: [nfdName], second: [nfcName] };
      const { datasets, auditDetails } = await startWithEarlierDatabase(databaseKind, {
        slides: [nfdName, nfcName],
        restricted: [nfdName, nfcName],
        listed: [nfcName],
        grants,
      });
      expect(await datasets()).toMatchObject([{ name: nfcName, listed: false, images: 2, grants: ['both'] }]);
      expect(await auditDetails('dataset-revoked')).toHaveLength(2);
    });

    it('keeps the right of an account to download only if the account had this right for every spelling', async () => {
      const everySpelling = [nfdName, nfcName];
      const { datasets, downloaders } = await startWithEarlierDatabase(databaseKind, {
        slides: everySpelling,
        restricted: [nfdName],
        open: [nfcName],
        grants: { all: everySpelling, one: everySpelling, restricted: [nfdName] },
        downloads: { all: everySpelling, one: [nfcName], restricted: [nfdName] },
      });
      expect(await datasets()).toMatchObject([{ grants: ['all', 'one', 'restricted'] }]);
      expect(await downloaders()).toEqual(['all']);
    });

    it('keeps the grants of the restricted spelling and drops those of the open spelling', async () => {
      const { datasets } = await startWithEarlierDatabase(databaseKind, {
        slides: [nfdName, nfcName],
        restricted: [nfdName],
        open: [nfcName],
        listed: [nfdName],
        grants: { first: [nfdName], second: [nfcName] },
      });
      expect(await datasets()).toMatchObject([{ access: 'restricted', listed: true, grants: ['first'] }]);
    });

    it('keeps the latest access request of each account', async () => {
      const { datasets } = await startWithEarlierDatabase(databaseKind, {
        slides: [nfdName, nfcName],
        restricted: [nfdName, nfcName],
        requests: { both: [nfdName, nfcName], first: [nfdName] },
      });
      // The only request of `first`, and the second request of `both`.
      expect((await datasets())[0]?.requests.sort()).toEqual(['reason 0', 'reason 1']);
    });

    it('results in an open dataset when neither spelling was restricted', async () => {
      const { visibleToMember, datasets } = await startWithEarlierDatabase(databaseKind, {
        slides: ['STUDY', 'Study'],
      });
      expect(await visibleToMember()).toHaveLength(2);
      expect(await datasets()).toMatchObject([{ access: 'open', images: 2 }]);
    });

    it('writes an audit event for each slide whose dataset name changes, and no event when the server starts again', async () => {
      const { auditDetails, allImages, server } = await startWithEarlierDatabase(databaseKind, {
        slides: [nfdName, nfcName],
        restricted: [nfdName],
      });
      expect(new Set((await allImages()).map(({ dataset_name: name }) => name))).toEqual(new Set([nfcName]));
      const merged = [{ dataset: nfcName, spellings: 2, slides: 1, access: 'restricted' }];
      expect(await auditDetails('datasets-merged')).toEqual(merged);
      expect(await auditDetails('image-dataset-changed')).toEqual([
        { dataset_before: nfdName, dataset_after: nfcName },
      ]);
      await server.another(); // the next start
      expect(await auditDetails('datasets-merged')).toEqual(merged);
    });
  },
);

describe.each(databaseKinds)(
  'merging two spellings of an organ name at the start of the server (database: %s)',
  (databaseKind) => {
    it('gives the slides with either spelling the same organ', async () => {
      const { allImages } = await startWithEarlierDatabase(databaseKind, {
        slides: ['A', 'A'],
        organs: [nfdName, 'BÖBREK'],
      });
      expect(new Set((await allImages()).map(({ organ_type: organ }) => organ)).size).toBe(1);
    });
  },
);
