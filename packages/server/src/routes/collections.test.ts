import {
  answerQuestion,
  apiBase,
  createCollection,
  createSavedView,
  createShareLink,
  deleteSavedView,
  getCollection,
  listAnswers,
  listCollections,
  openShareLink,
  present,
  updateCollection,
  updateDataset,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const field = { x: 100, y: 200, zoom: 4, rotation: 90, mirrored: true };

describe.each(databaseKinds)('collections on %s', (database) => {
  async function setUp() {
    const server = await testServer({ database });
    const admin = server.as(await server.fixtures.admin());
    const open = (await server.fixtures.image({ dataset_name: 'Açık' })).id;
    const closed = (await server.fixtures.image({ dataset_name: 'Kapalı' })).id;
    await admin.call(updateDataset, { body: { dataset: 'Açık', access: 'open', sharing: true } });
    const owner = await server.fixtures.user({ displayName: 'Ayşe Hoca' });
    return { server, admin, open, closed, owner, teacher: server.as(owner) };
  }

  it('list an item that the reader may not view as inaccessible, without its content', async () => {
    const { server, admin, teacher, open, closed } = await setUp();
    const view = await teacher.call(createSavedView, { body: { image_id: closed, title: 'Tümör', field } });
    expect(view).toMatchObject({ status: 201, body: { version: 1, field } });
    const items = [
      { type: 'slide', id: open, text: 'Önce buraya bakın.' },
      { type: 'view', id: view.body.id },
    ] as const;
    const created = await teacher.call(createCollection, {
      body: { title: 'Ders', items: [...items], readers: 'members' },
    });
    expect(created.body.items.map(({ access }) => access)).toEqual([true, true]);

    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'restricted' } });
    const reader = server.as(await server.fixtures.user({ role: 'viewer' }));
    const { body } = await reader.call(getCollection, { params: { collectionId: created.body.id } });
    expect(body).toMatchObject({ title: 'Ders', owner_name: 'Ayşe Hoca', own: false });
    expect(body.items).toMatchObject([
      { access: true, text: 'Önce buraya bakın.', images: [open] },
      { access: false, title: null, images: [], field: null },
    ]);
  });

  it('can be read only by their owner and the readers that the owner names', async () => {
    const { server, teacher, open } = await setUp();
    const [reader, other] = [await server.fixtures.user(), await server.fixtures.user()];
    const items = [{ type: 'slide' as const, id: open }];
    const body = { title: 'Ders', items, readers: [reader.uid] };
    const { id } = (await teacher.call(createCollection, { body })).body;
    const seen = async (by: typeof reader) =>
      (await server.as(by).call(getCollection, { params: { collectionId: id } })).status;
    expect([await seen(reader), await seen(other)]).toEqual([200, 404]);
    expect((await server.as(reader).call(listCollections)).body.collections).toMatchObject([
      { id, readers: [reader.uid] },
    ]);
    expect((await server.as(other).call(listCollections)).body.collections).toEqual([]);
    const params = { collectionId: id };
    expect((await server.as(reader).call(updateCollection, { params, body: { title: 'X' } })).status).toBe(
      404,
    );
    await teacher.call(updateCollection, { params, body: { readers: [] } });
    expect(await seen(reader)).toBe(404);
  });

  it('reject an item that their owner may not view, and a saved view of another account', async () => {
    const { server, admin, teacher, open, closed } = await setUp();
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'restricted' } });
    const stranger = server.as(await server.fixtures.user());
    const foreign = (await stranger.call(createSavedView, { body: { image_id: open, title: 'G', field } }))
      .body.id;
    for (const item of [
      { type: 'slide' as const, id: closed },
      { type: 'view' as const, id: foreign },
    ]) {
      const body = { title: 'Ders', items: [item], readers: [] };
      expect((await teacher.call(createCollection, { body })).status).toBe(404);
    }
    const params = { viewId: foreign };
    expect((await teacher.call(deleteSavedView, { params })).status).toBe(404);
  });

  const question = {
    kind: 'choice' as const,
    text: 'Hangi hücre?',
    choices: ['Lenfosit', 'Plazma hücresi'],
    correct: [1],
    explanation: 'Çekirdek kenarda.',
  };
  const region = {
    kind: 'region' as const,
    text: 'Mitozu gösterin.',
    region: {
      type: 'Polygon' as const,
      coordinates: [
        [
          [0, 0],
          [100, 0],
          [100, 100],
          [0, 100],
          [0, 0],
        ],
      ],
    },
  };

  async function quiz({ teacher, open }: Awaited<ReturnType<typeof setUp>>) {
    const items = [
      { type: 'slide' as const, id: open, question },
      { type: 'slide' as const, id: open, question: region },
      { type: 'slide' as const, id: open },
    ];
    const created = await teacher.call(createCollection, {
      body: { title: 'Sınav', items, readers: 'members' },
    });
    expect(created.body.items[0]?.question).toEqual(question);
    return created.body.id;
  }

  it('return the correct answers and regions of questions only to their owner', async () => {
    const all = await setUp();
    const params = { collectionId: await quiz(all) };
    const student = all.server.as(await all.server.fixtures.user({ role: 'viewer', displayName: 'Öğrenci' }));
    const seen = await student.call(getCollection, { params });
    expect(JSON.stringify(seen.body)).not.toMatch(/"correct"|"region":|kenarda/);
    const answer = (item: number | string, given: number[] | string) =>
      student.call(answerQuestion, { params, body: { item, answer: given } });
    expect((await answer(0, [0])).body).toEqual({ correct: false, explanation: 'Çekirdek kenarda.' });
    expect((await answer(0, [1])).body.correct).toBe(true);
    expect((await answer(1, [50, 50])).body.correct).toBe(true);
    expect((await answer(1, [150, 50])).body.correct).toBe(false);
    expect((await answer(0, [2])).status).toBe(400);
    expect((await answer(2, [0])).status).toBe(404);
    expect((await student.call(listAnswers, { params })).status).toBe(403);
    expect((await all.teacher.call(listAnswers, { params })).body.answers).toMatchObject([
      { item: 0, person: 'Öğrenci', answer: [1], correct: true, attempts: 2 },
      { item: 1, person: 'Öğrenci', answer: [150, 50], correct: false, attempts: 2 },
    ]);
    const csv = await all.teacher.call(listAnswers, { params, query: { format: 'csv' } });
    expect(csv.headers['content-type']).toContain('text/csv');
    expect(csv.body).toContain('1,Hangi hücre?,Öğrenci,');
  });

  /** Creates a share link of the collection and opens it as a visitor. */
  async function visitorOf({ server, teacher }: Awaited<ReturnType<typeof setUp>>, id: string) {
    const created = await teacher.call(createShareLink, {
      body: { target: { type: 'collection', id }, title: 'Sınav' },
    });
    const secret = created.body.url.split('#')[1] ?? '';
    return {
      linkId: created.body.id,
      opened: (await server.as(null).call(openShareLink, { body: { secret } })).body,
    };
  }

  it('allow a visitor with a share link to answer questions and follow a presentation', async () => {
    const all = await setUp();
    const id = await quiz(all);
    const { opened } = await visitorOf(all, id);
    expect(opened).toMatchObject({ collection_id: id });
    expect(opened.items[0]).toMatchObject({
      item: 0,
      question: { kind: 'choice', choices: question.choices },
    });
    expect(JSON.stringify(opened)).not.toMatch(/"correct"|"region":|kenarda|\.tif|Açık/);
    const visitor = all.server.as(null);
    const query = { session: opened.session_id };
    const answered = await visitor.call(answerQuestion, {
      params: { collectionId: id },
      query,
      body: { item: 0, answer: [1] },
    });
    expect(answered).toMatchObject({ status: 200, body: { correct: true } });
    expect(
      (await all.teacher.call(listAnswers, { params: { collectionId: id } })).body.answers,
    ).toMatchObject([{ person: 'Visitor 1', uid: null, correct: true }]);
    const other = await quiz(all);
    expect(
      (
        await visitor.call(answerQuestion, {
          params: { collectionId: other },
          query,
          body: { item: 0, answer: [1] },
        })
      ).status,
    ).toBe(404);
  });

  const events = (server: Pick<TestServer, 'as'>, id: string, query: Record<string, string>) =>
    server.as(null).inject({
      method: 'GET',
      url: `/collections/${id}/presentation-events`,
      query: { wait: '1', ...query },
    });

  /** Connects to the events. @returns a function that waits for the data of the next one; null after the last */
  async function follow({ app }: Pick<TestServer, 'app'>, id: string, query: Record<string, string>) {
    await app.ready();
    const url = `${apiBase}/collections/${id}/presentation-events`;
    const response = await app.inject({ method: 'GET', url, query, payloadAsStream: true });
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const chunks = response.stream().setEncoding('utf8')[Symbol.asyncIterator]();
    let received = '';
    return async (): Promise<unknown> => {
      for (;;) {
        const [event, data] = /^data: (.*)\n\n/m.exec(received) ?? [];
        if (event !== undefined) {
          received = received.slice(received.indexOf(event) + event.length);
          return JSON.parse(data ?? '') as unknown;
        }
        const chunk = await chunks.next();
        if (chunk.done === true) return null;
        received += String(chunk.value);
      }
    };
  }

  it('send server-sent events of a presentation to followers in this and in another process', async () => {
    const all = await setUp();
    const id = await quiz(all);
    const { opened } = await visitorOf(all, id);
    const query = { session: opened.session_id };
    const there = await all.server.another();
    const params = { collectionId: id };
    await all.teacher.call(present, { params, body: { field, item: 0 } });
    const followers = [await follow(all.server, id, query), await follow(there, id, query)];
    for (const next of followers) expect(await next()).toEqual({ field, item: 0 });
    expect((await all.teacher.call(present, { params, body: { field: null, item: 1 } })).status).toBe(204);
    for (const next of followers) expect(await next()).toEqual({ field: null, item: 1 });
  });

  it('send no more events to a visitor after the share link has ended', async () => {
    const all = await setUp();
    const id = await quiz(all);
    const { opened, linkId } = await visitorOf(all, id);
    const query = { session: opened.session_id, wait: '30' };
    const startedAt = Date.now();
    const following = events(all.server, id, query);
    await new Promise((resolve) => setTimeout(resolve, 500)); // until the follower is connected
    await all.teacher.inject({ method: 'DELETE', url: `/share-links/${linkId}` });
    expect((await following).status).toBe(200);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    expect((await events(all.server, id, query)).status).toBe(401);
  });
});
