/** Restricted datasets: accounts with a grant see them, members may request access to listed ones, and all others do not see them. */
import {
  answerDatasetRequest,
  countWaiting,
  type Endpoint,
  getActivity,
  getImage,
  getStatistics,
  grantDataset,
  listDatasets,
  listImages,
  listRequestableDatasets,
  promoteUser,
  requestDataset,
  revokeDataset,
  updateDataset,
  updateImage,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import postalMime from 'postal-mime';
import { beforeAll, describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';
import type { TestServer } from '../testing/test-server.ts';

let svs: Uint8Array;
beforeAll(async () => {
  svs = await buildSvs();
}, 60_000);

/** Name of the dataset that the tests restrict. No folder can have this name, because of the slash, but an administrator can choose it. */
const restrictedName = 'Böbrek: gizli/1';
const pixels = ['image.dzi', 'thumbnail.jpg', 'image_files/9/0_0.jpeg'];

/** Starts a server with three slides: in an open dataset, in the dataset that the tests restrict, and without a dataset. */
async function startWithThreeSlides(database: (typeof databaseKinds)[number]) {
  const server = await slideServer({ database, config: { logLevel: 'info' } });
  const { fixtures, as } = server;
  await server.put('Açık/open.svs', svs);
  await server.put('Kapalı/closed.svs', svs);
  await server.put('loose.svs', svs);
  await server.rescan();
  const ids = {
    open: await server.idOf('open.svs'),
    closed: await server.idOf('closed.svs'),
    loose: await server.idOf('loose.svs'),
  };
  const admin = as(await fixtures.token(await fixtures.admin()));
  await admin.call(updateImage, { params: { imageId: ids.closed }, body: { dataset_name: restrictedName } });
  /** Restricts or opens the dataset. @param listed whether members see that it exists, and may request access; default: unchanged */
  const setAccess = (access: 'open' | 'restricted', listed?: boolean) =>
    admin.call(updateDataset, {
      body: { dataset: restrictedName, access, ...(listed !== undefined && { listed }) },
    });
  const member = async (role: 'user' | 'viewer' = 'user') => {
    const user = await fixtures.user({ role });
    const token = await fixtures.token(user);
    return { user, token, uid: user.uid, session: await server.sessionOf(token), client: as(token) };
  };
  const grant = (uid: string) => admin.call(grantDataset, { body: { dataset: restrictedName, uid } });
  const revoke = (uid: string) => admin.call(revokeDataset, { query: { dataset: restrictedName, uid } });
  return { ...server, server, ids, admin, setAccess, member, grant, revoke };
}

type World = Awaited<ReturnType<typeof startWithThreeSlides>>;

/** Returns what a member sees of the slide in the restricted dataset: the status of each request, and whether lists contain it. */
async function visibilityOf(
  { ids }: Pick<World, 'ids'>,
  { as }: Pick<TestServer, 'as'>,
  { token, session }: { readonly token: string; readonly session: string },
) {
  const list = async (query: Record<string, string>) =>
    (await as(token).call(listImages, { query })).body.images.some(({ id }) => id === ids.closed);
  const statuses = [];
  for (const name of pixels) {
    const url = `/image-catalog/proxy/${ids.closed}/${name}?session=${session}`;
    statuses.push((await as(null).inject({ method: 'GET', url })).status);
  }
  return {
    get: (await as(token).call(getImage, { params: { imageId: ids.closed } })).status,
    pixels: statuses,
    lists: [
      await list({}),
      await list({ dataset: restrictedName }),
      await list({ q: 'closed' }),
      await list({ limit: '9' }),
    ],
  };
}

const fullAccess = { get: 200, pixels: [200, 200, 200], lists: [true, true, true, true] };
const noAccess = { get: 404, pixels: [404, 404, 404], lists: [false, false, false, false] };

describe.each(databaseKinds)('a restricted dataset (database: %s)', (database) => {
  it('is visible to all members before it is restricted, and immediately afterwards only to accounts with a grant', async () => {
    const world = await startWithThreeSlides(database);
    const { setAccess, grant, revoke, server, ids } = world;
    const reader = await world.member();
    const other = await world.member('viewer');
    expect(await visibilityOf(world, server, reader)).toEqual(fullAccess);

    expect(await setAccess('restricted')).toMatchObject({
      status: 200,
      body: { message: 'Veri kümesi kısıtlandı.' },
    });
    expect(await visibilityOf(world, server, reader)).toEqual(noAccess);
    expect(await visibilityOf(world, server, other)).toEqual(noAccess);

    expect((await grant(reader.uid)).status).toBe(200);
    expect(await visibilityOf(world, server, reader)).toEqual(fullAccess);
    expect(await visibilityOf(world, server, other)).toEqual(noAccess);

    expect((await revoke(reader.uid)).status).toBe(200);
    expect(await visibilityOf(world, server, reader)).toEqual(noAccess);
    // Slides outside the restricted dataset stay visible.
    for (const id of [ids.open, ids.loose]) {
      for (const name of pixels)
        expect((await server.pixels(`${id}/${name}`, other.session)).statusCode).toBe(200);
    }

    expect((await setAccess('open')).status).toBe(200);
    expect(await visibilityOf(world, server, other)).toEqual(fullAccess);
  });

  it('is visible to every administrator, also to a new one', async () => {
    const world = await startWithThreeSlides(database);
    const { setAccess, admin, server, fixtures } = world;
    await setAccess('restricted');
    const newAdmin = await fixtures.admin();
    const token = await fixtures.token(newAdmin);
    expect(await visibilityOf(world, server, { token, session: await server.sessionOf(token) })).toEqual(
      fullAccess,
    );
    const reader = await world.member();
    await admin.call(promoteUser, { params: { uid: reader.uid } });
    const newToken = await fixtures.token(reader.user);
    expect(
      await visibilityOf(world, server, { token: newToken, session: await server.sessionOf(newToken) }),
    ).toEqual(fullAccess);
  });

  it('is shown or hidden by another server process within a second after an administrator changes its access or a grant', async () => {
    const world = await startWithThreeSlides(database);
    const { setAccess, grant, revoke, server, clock } = world;
    const otherProcess = await server.another();
    const reader = await world.member();
    expect(await visibilityOf(world, otherProcess, reader)).toEqual(fullAccess);
    const expectAfterOneSecond = async (expected: object) => {
      clock.advance(1001); // another process may use its cache for at most 1 s
      expect(await visibilityOf(world, otherProcess, reader)).toEqual(expected);
    };
    await setAccess('restricted');
    await expectAfterOneSecond(noAccess);
    await grant(reader.uid);
    await expectAfterOneSecond(fullAccess);
    await revoke(reader.uid);
    await expectAfterOneSecond(noAccess);
    await setAccess('open');
    await expectAfterOneSecond(fullAccess);
  });

  it('returns to an account without a grant the same 404 for its slides as for an unknown slide', async () => {
    const { setAccess, member, server, ids } = await startWithThreeSlides(database);
    await setAccess('restricted');
    const { client, session } = await member();
    const missing = '00000000-0000-4000-8000-000000000000';
    const bodyOf = async (id: string) => {
      const { body, status } = await client.call(getImage, { params: { imageId: id } });
      return [status, { ...(body as object), requestId: '' }];
    };
    expect(await bodyOf(ids.closed)).toEqual(await bodyOf(missing));
    for (const name of pixels) {
      const responses = [];
      for (const id of [ids.closed, missing]) {
        const { statusCode, body } = await server.pixels(`${id}/${name}`, session, {
          headers: { 'if-none-match': '*' },
        });
        responses.push([statusCode, { ...(JSON.parse(body) as object), requestId: '' }]);
      }
      expect(responses[0]).toEqual(responses[1]);
    }
  });

  it('is left out of the image list of an account without a grant, also when each page contains one image', async () => {
    const { setAccess, member, ids } = await startWithThreeSlides(database);
    await setAccess('restricted');
    const { client } = await member();
    const seenIds: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 3; page++) {
      const query: Record<string, string> = { limit: '1', ...(cursor !== null && { cursor }) };
      const { images, next_cursor } = (await client.call(listImages, { query })).body;
      seenIds.push(...images.map(({ id }) => id));
      cursor = next_cursor;
      if (cursor === null) break;
    }
    expect(seenIds.sort()).toEqual([ids.open, ids.loose].sort());
    expect(cursor).toBe(null);
  });

  it('hides a slide from accounts without a grant as soon as an administrator moves the slide into the dataset', async () => {
    const { setAccess, member, server, ids, admin } = await startWithThreeSlides(database);
    await setAccess('restricted');
    const { session } = await member();
    const move = (dataset_name: string) =>
      admin.inject({ method: 'PUT', url: `/image-catalog/images/${ids.closed}`, payload: { dataset_name } });
    await move('Açık');
    expect((await server.pixels(`${ids.closed}/image.dzi`, session)).statusCode).toBe(200);
    await move(restrictedName);
    expect((await server.pixels(`${ids.closed}/image.dzi`, session)).statusCode).toBe(404);
  });

  it('has imageId null for its slides in the activity list of an account without a grant', async () => {
    const { setAccess, member, server, ids } = await startWithThreeSlides(database);
    const { client, session } = await member();
    await server.pixels(`${ids.closed}/image.dzi`, session);
    await setAccess('restricted');
    const { activity } = (await client.call(getActivity)).body;
    expect(activity.filter(({ action }) => action === 'image-opened')).toMatchObject([{ imageId: null }]);
  });
});

describe.each(databaseKinds)(
  'the fast path of tile requests, which bypasses Fastify (database: %s)',
  (database) => {
    it('returns 404 for a slide of a restricted dataset unless the account has a grant at that moment', async () => {
      const { setAccess, grant, revoke, member, app, ids } = await startWithThreeSlides(database);
      const address = await app.listen({ host: '127.0.0.1', port: 0 });
      const { session, uid } = await member();
      const tile = async (id = ids.closed) => {
        const answer = await fetch(
          `${address}/api/v1/image-catalog/proxy/${id}/image_files/9/0_0.jpeg?session=${session}`,
        );
        await answer.arrayBuffer();
        return answer.status;
      };
      expect([await tile(), await tile(), await tile()]).toEqual([200, 200, 200]);
      await setAccess('restricted');
      expect([await tile(), await tile(), await tile(ids.open)]).toEqual([404, 404, 200]);
      await grant(uid);
      expect([await tile(), await tile()]).toEqual([200, 200]);
      await revoke(uid);
      expect([await tile(), await tile()]).toEqual([404, 404]);
    });
  },
);

describe.each(databaseKinds)('administration of datasets (database: %s)', (database) => {
  it('lists each dataset with its slides, grants and access requests', async () => {
    const { setAccess, grant, member, admin, clock } = await startWithThreeSlides(database);
    await setAccess('restricted', true);
    const [first, second] = [await member(), await member()];
    await grant(first.uid);
    await second.client.call(requestDataset, { body: { dataset: restrictedName, reason: ' Tez \n için ' } });
    const { datasets } = (await admin.call(listDatasets)).body;
    const at = clock.now().toISOString();
    expect(datasets).toEqual([
      {
        name: 'Açık',
        access: 'open',
        listed: false,
        sharing: false,
        images: 1,
        identifiable_originals: false,
        grants: [],
        requests: [],
      },
      {
        name: restrictedName,
        access: 'restricted',
        listed: true,
        sharing: false,
        images: 1,
        identifiable_originals: false,
        grants: [{ uid: first.uid, email: first.user.email, displayName: null, at, download: false }],
        requests: [
          {
            id: expect.any(String),
            uid: second.uid,
            email: second.user.email,
            displayName: null,
            at,
            reason: 'Tez \n için',
          },
        ],
      },
    ]);
    expect((await admin.call(countWaiting)).body).toEqual({ applications: 0, datasetRequests: 1 });
  });

  it('counts, like GET /admin/statistics, no slide with the status failed', async () => {
    const { admin, fixtures } = await startWithThreeSlides(database);
    await fixtures.image({ dataset_name: 'Açık', status: 'failed' });
    await fixtures.image({ dataset_name: 'Okunamayan', status: 'failed' });
    const { datasets } = (await admin.call(listDatasets)).body;
    expect(datasets.map(({ name, images }) => [name, images])).toContainEqual(['Okunamayan', 0]);
    const { slides } = (await admin.call(getStatistics)).body;
    const withoutDataset = 1;
    expect(datasets.reduce((sum, { images }) => sum + images, withoutDataset)).toBe(slides);
  });

  it('writes one audit event for each change, and none for a request that changes nothing', async () => {
    const { setAccess, grant, revoke, member, services } = await startWithThreeSlides(database);
    const { uid } = await member();
    for (let twice = 0; twice < 2; twice++) {
      await setAccess('restricted', false);
    }
    for (let twice = 0; twice < 2; twice++) await grant(uid);
    for (let twice = 0; twice < 2; twice++) await revoke(uid);
    const rows = await services.db
      .selectFrom('audit')
      .select(['action', 'target', 'detail'])
      .where('action', 'like', 'dataset-%')
      .orderBy('seq')
      .execute();
    expect(rows.map(({ action, target, detail }) => [action, target, JSON.parse(detail)])).toEqual([
      [
        'dataset-changed',
        null,
        { dataset: restrictedName, access: 'restricted', listed: false, sharing: false },
      ],
      ['dataset-granted', uid, { dataset: restrictedName }],
      ['dataset-revoked', uid, { dataset: restrictedName }],
    ]);
  });

  it('returns 404 for an unknown dataset and for an unknown account', async () => {
    const { admin, grant, member } = await startWithThreeSlides(database);
    const { uid } = await member();
    const calls: [Endpoint, object][] = [
      [updateDataset, { dataset: 'Yok', access: 'open' }],
      [grantDataset, { dataset: 'Yok', uid }],
    ];
    for (const [endpoint, body] of calls) {
      expect(
        await admin.inject({ method: endpoint.method, url: endpoint.path, payload: body }),
      ).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
    expect((await grant('00000000-0000-4000-8000-000000000000')).status).toBe(404);
  });
});

describe.each(databaseKinds)('a request for access to a dataset (database: %s)', (database) => {
  const requestAccess = (
    { client }: Awaited<ReturnType<World['member']>>,
    dataset = restrictedName,
    reason = 'My thesis.',
  ) => client.call(requestDataset, { body: { dataset, reason } });
  const requestableDatasetsOf = async ({ client }: Awaited<ReturnType<World['member']>>) =>
    (await client.call(listRequestableDatasets)).body.datasets;
  const emailsOf = async ({ outbox }: SlideServer) =>
    Promise.all((await outbox()).map((mail) => postalMime.parse(mail)));

  it('can be sent for a listed restricted dataset, and is shown to its sender with the decision of the administrator', async () => {
    const world = await startWithThreeSlides(database);
    const { setAccess, admin, server } = world;
    const reader = await world.member();
    await setAccess('restricted', true);
    expect(await requestableDatasetsOf(reader)).toEqual([
      { name: restrictedName, granted: false, request: null },
    ]);
    expect(await requestAccess(reader)).toMatchObject({
      status: 200,
      body: { message: 'Your request has been sent.' },
    });
    const at = server.clock.now().toISOString();
    const openRequest = { at, reason: 'My thesis.', answer: null, answer_reason: null };
    expect(await requestableDatasetsOf(reader)).toEqual([
      { name: restrictedName, granted: false, request: openRequest },
    ]);

    const requestId = (await admin.call(listDatasets)).body.datasets.at(-1)?.requests[0]?.id ?? '';
    const decision = await admin.call(answerDatasetRequest, {
      params: { requestId },
      body: { granted: true },
    });
    expect(decision).toMatchObject({ status: 200, body: { message: 'İstek kabul edildi.' } });
    expect(await requestableDatasetsOf(reader)).toEqual([
      { name: restrictedName, granted: true, request: { ...openRequest, answer: 'granted' } },
    ]);
    expect(await visibilityOf(world, server, reader)).toEqual(fullAccess);
    const sentEmails = (await emailsOf(server)).map(({ to, subject }) => [to?.[0]?.address, subject]);
    expect(sentEmails).toContainEqual([reader.user.email, 'Lamina: Veri kümesi isteğiniz kabul edildi']);
    expect(sentEmails.filter(([, subject]) => subject === 'Lamina: Onay bekleyenler var')).toHaveLength(2);
    const secondDecision = await admin.call(answerDatasetRequest, {
      params: { requestId },
      body: { granted: false },
    });
    expect(secondDecision).toMatchObject({ status: 409, body: { code: 'already_answered' } });
    expect(await requestAccess(reader)).toMatchObject({
      body: { message: 'You already have access to this dataset.' },
    });
  });

  it('can be rejected with a reason, and sent again', async () => {
    const world = await startWithThreeSlides(database);
    const { setAccess, admin, server } = world;
    const reader = await world.member();
    await setAccess('restricted', true);
    await requestAccess(reader);
    const requestId = async () =>
      (await admin.call(listDatasets)).body.datasets.at(-1)?.requests[0]?.id ?? '';
    await admin.call(answerDatasetRequest, {
      params: { requestId: await requestId() },
      body: { granted: false, reason: 'Etik kurul onayı gerekli.' },
    });
    const [rejectedRequest] = await requestableDatasetsOf(reader);
    expect(rejectedRequest).toMatchObject({
      granted: false,
      request: { answer: 'refused', answer_reason: 'Etik kurul onayı gerekli.' },
    });
    const rejectionEmail = (await emailsOf(server)).find(({ subject }) =>
      subject?.endsWith('isteğiniz reddedildi'),
    );
    expect(rejectionEmail?.text).toContain('Etik kurul onayı gerekli.');
    expect(await visibilityOf(world, server, reader)).toEqual(noAccess);
    await requestAccess(reader, restrictedName, 'Approved now.');
    expect((await requestableDatasetsOf(reader))[0]?.request).toMatchObject({
      reason: 'Approved now.',
      answer: null,
    });
    // A second request replaces the reason of the first one.
    const before = await requestId();
    await requestAccess(reader, restrictedName, 'Approved, no. 12.');
    expect(await requestId()).toBe(before);
    expect((await admin.call(countWaiting)).body.datasetRequests).toBe(1);
  });

  it('gets the same 404 for an unlisted restricted dataset and for an open dataset as for an unknown one', async () => {
    const { setAccess, member, services } = await startWithThreeSlides(database);
    const reader = await member();
    await setAccess('restricted', false);
    expect(await requestableDatasetsOf(reader)).toEqual([]);
    const responses = [];
    for (const name of [restrictedName, 'Yok', 'Açık']) {
      const { status, body } = await requestAccess(reader, name);
      responses.push([status, { ...(body as object), requestId: '' }]);
    }
    expect(responses[0]?.[0]).toBe(404);
    expect(responses[1]).toEqual(responses[0]);
    expect(responses[2]).toEqual(responses[0]);
    expect(await services.db.selectFrom('dataset_requests').selectAll().execute()).toEqual([]);
  });

  it('counts as granted when an administrator grants access without answering the request', async () => {
    const world = await startWithThreeSlides(database);
    const reader = await world.member();
    await world.setAccess('restricted', true);
    await requestAccess(reader);
    await world.grant(reader.uid);
    expect((await requestableDatasetsOf(reader))[0]).toMatchObject({
      granted: true,
      request: { answer: 'granted' },
    });
    expect((await world.admin.call(countWaiting)).body.datasetRequests).toBe(0);
  });
});

describe('two server processes over one database', () => {
  it.each(databaseKinds)(
    'return 404 for a tile of a restricted dataset within a second after one of the processes revokes the grant (database: %s)',
    async (database) => {
      const world = await startWithThreeSlides(database);
      const { setAccess, grant, revoke, server, clock, ids } = world;
      const otherProcess = await server.another();
      const { uid, session } = await world.member();
      await setAccess('restricted');
      await grant(uid);
      const url = `/image-catalog/proxy/${ids.closed}/image_files/9/0_0.jpeg?session=${session}`;
      const statusInOtherProcess = async () =>
        (await otherProcess.as(null).inject({ method: 'GET', url })).status;
      clock.advance(1001);
      expect(await statusInOtherProcess()).toBe(200);
      // The session is in constant use, so its cached state would be used up to the staleness limit.
      await revoke(uid);
      let status = 200;
      for (let waitedMs = 0; waitedMs <= 1000 && status === 200; waitedMs += 100) {
        status = await statusInOtherProcess();
        clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      clock.advance(1);
      expect(await statusInOtherProcess()).toBe(404);
    },
  );
});
