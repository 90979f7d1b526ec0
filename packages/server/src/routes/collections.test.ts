/** Collections of slides and saved views through HTTP: readers, questions with answers, and presentations with their followers. */
import {
  answerQuestion,
  apiBase,
  createCollection,
  createSavedView,
  createShareLink,
  deleteCollection,
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
import { insertCollections, insertSavedViews } from '../testing/own-resources.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

/** Field of view of a slide: the centre in pixels of full resolution, the zoom and the orientation. */
const field = { x: 100, y: 200, zoom: 4, rotation: 90, mirrored: true };

describe.each(databaseKinds)('collections of slides in the API (database: %s)', (database) => {
  /** Starts a server with a slide in an open and a slide in another dataset, which tests restrict, and a teacher. */
  async function setUp(config: { readonly imageSessionCookie?: 'strict' } = {}) {
    const server = await testServer({ database, config });
    const admin = server.as(await server.fixtures.admin());
    const openSlide = (await server.fixtures.image({ dataset_name: 'Açık' })).id;
    const restrictedSlide = (await server.fixtures.image({ dataset_name: 'Kapalı' })).id;
    await admin.call(updateDataset, { body: { dataset: 'Açık', access: 'open', sharing: true } });
    const owner = await server.fixtures.user({ displayName: 'Ayşe Hoca' });
    return { server, admin, openSlide, restrictedSlide, owner, teacher: server.as(owner) };
  }

  it('mark as inaccessible each item that the reader may not view, and return none of its content', async () => {
    const { server, admin, teacher, openSlide, restrictedSlide } = await setUp();
    const view = await teacher.call(createSavedView, {
      body: { image_id: restrictedSlide, title: 'Tümör', field },
    });
    expect(view).toMatchObject({ status: 201, body: { version: 1, field } });
    const items = [
      { type: 'slide', id: openSlide, text: 'Önce buraya bakın.' },
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
      { access: true, text: 'Önce buraya bakın.', images: [openSlide] },
      { access: false, title: null, images: [], field: null },
    ]);
  });

  it('are rejected with 409 when their owner has 200 of them, until the owner deletes one', async () => {
    const { server, owner, teacher } = await setUp();
    await insertCollections(server.services.db, owner.uid, 200);
    const create = () => teacher.call(createCollection, { body: { title: 'Ders' } });
    expect(await create()).toMatchObject({ status: 409, body: { code: 'too_many_collections' } });
    const [first] = (await teacher.call(listCollections)).body.collections;
    await teacher.call(deleteCollection, { params: { collectionId: first?.id ?? '' } });
    expect((await create()).status).toBe(201);
    const other = server.as(await server.fixtures.user());
    expect((await other.call(createCollection, { body: { title: 'Ders' } })).status).toBe(201);
  });

  it('are listed up to 1,000: all own ones, and the last changed ones of other accounts', async () => {
    const { server, admin, teacher } = await setUp();
    const own = (await teacher.call(createCollection, { body: { title: 'Kendi dersim' } })).body;
    server.clock.advance(1000);
    const colleague = await server.fixtures.user();
    await insertCollections(server.services.db, colleague.uid, 1001);
    const newer = server.clock.now().toISOString();
    await server.services.db
      .updateTable('collections')
      .set({ updated_at: newer })
      .where('uid', '=', colleague.uid)
      .execute();
    const { collections } = (await teacher.call(listCollections)).body;
    expect(collections).toHaveLength(1000);
    expect(collections.at(-1)).toMatchObject({ id: own.id, own: true });
    expect((await admin.call(listCollections)).body.collections).toHaveLength(1000);
  });

  it('need saved views, of which an account may have 2,000: the request for a further one gets 409', async () => {
    const { server, owner, teacher, openSlide } = await setUp();
    await insertSavedViews(server.services.db, owner.uid, 2000);
    const body = { image_id: openSlide, title: 'Tümör', field };
    expect(await teacher.call(createSavedView, { body })).toMatchObject({
      status: 409,
      body: { code: 'too_many_saved_views' },
    });
  });

  it('can be read only by their owner and by the readers whom the owner names', async () => {
    const { server, teacher, openSlide } = await setUp();
    const [reader, otherAccount] = [await server.fixtures.user(), await server.fixtures.user()];
    const items = [{ type: 'slide' as const, id: openSlide }];
    const body = { title: 'Ders', items, readers: [reader.uid] };
    const { id } = (await teacher.call(createCollection, { body })).body;
    const statusFor = async (account: typeof reader) =>
      (await server.as(account).call(getCollection, { params: { collectionId: id } })).status;
    expect([await statusFor(reader), await statusFor(otherAccount)]).toEqual([200, 404]);
    expect((await server.as(reader).call(listCollections)).body.collections).toMatchObject([
      { id, readers: [reader.uid] },
    ]);
    expect((await server.as(otherAccount).call(listCollections)).body.collections).toEqual([]);
    const params = { collectionId: id };
    expect((await server.as(reader).call(updateCollection, { params, body: { title: 'X' } })).status).toBe(
      404,
    );
    await teacher.call(updateCollection, { params, body: { readers: [] } });
    expect(await statusFor(reader)).toBe(404);
  });

  it('POST /saved-views returns 400 for colour settings that are nested more than 20 levels deep', async () => {
    const { teacher, openSlide } = await setUp();
    const body = JSON.stringify({ image_id: openSlide, title: 'G', field, colours: null });
    const statuses: number[] = [];
    for (const levels of [9000, 21, 20]) {
      const payload = body.replace('null', '['.repeat(levels) + ']'.repeat(levels));
      const headers = { 'content-type': 'application/json' };
      statuses.push((await teacher.inject({ method: 'POST', url: '/saved-views', headers, payload })).status);
    }
    expect(statuses).toEqual([400, 400, 201]);
  });

  it('cannot contain a slide that their owner may not view, nor a saved view of another account: the request gets 404', async () => {
    const { server, admin, teacher, openSlide, restrictedSlide } = await setUp();
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'restricted' } });
    const stranger = server.as(await server.fixtures.user());
    const viewOfStranger = (
      await stranger.call(createSavedView, { body: { image_id: openSlide, title: 'G', field } })
    ).body.id;
    for (const item of [
      { type: 'slide' as const, id: restrictedSlide },
      { type: 'view' as const, id: viewOfStranger },
    ]) {
      const body = { title: 'Ders', items: [item], readers: [] };
      expect((await teacher.call(createCollection, { body })).status).toBe(404);
    }
    const params = { viewId: viewOfStranger };
    expect((await teacher.call(deleteSavedView, { params })).status).toBe(404);
  });

  it('keep an item that their owner may no longer view when the owner saves the collection', async () => {
    const { admin, teacher, openSlide, restrictedSlide } = await setUp();
    const items = [
      { type: 'slide' as const, id: openSlide },
      { type: 'slide' as const, id: restrictedSlide, text: 'Buraya bakın.' },
    ];
    const createWith = async (itemsOfCollection: typeof items) =>
      (await teacher.call(createCollection, { body: { title: 'Ders', items: itemsOfCollection } })).body.id;
    const collectionId = await createWith(items);
    const otherCollectionId = await createWith(items.slice(0, 1));
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'restricted' } });
    const change = { title: 'Ders 2', items: items.toReversed() };
    const saved = await teacher.call(updateCollection, { params: { collectionId }, body: change });
    expect(saved).toMatchObject({
      status: 200,
      body: {
        title: 'Ders 2',
        items: [
          { id: restrictedSlide, text: 'Buraya bakın.', access: false, images: [] },
          { id: openSlide, access: true },
        ],
      },
    });
    const params = { collectionId: otherCollectionId };
    expect((await teacher.call(updateCollection, { params, body: change })).status).toBe(404);
  });

  it('can have 500 items with texts of 4,000 characters, the maximum of each', async () => {
    const { teacher, openSlide } = await setUp();
    const item = { type: 'slide' as const, id: openSlide, text: 'ş'.repeat(4000) };
    const items = Array.from({ length: 500 }, () => item);
    const created = await teacher.call(createCollection, { body: { title: 'Ders', items } });
    expect(created.status).toBe(201);
    const change = { params: { collectionId: created.body.id }, body: { items } };
    expect((await teacher.call(updateCollection, change)).body.items).toHaveLength(500);
  });

  const choiceQuestion = {
    kind: 'choice' as const,
    text: 'Hangi hücre?',
    choices: ['Lenfosit', 'Plazma hücresi'],
    correct: [1],
    explanation: 'Çekirdek kenarda.',
  };
  const regionQuestion = {
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

  /** Creates a collection for all members with a choice question, a region question, and a slide without a question. Returns its id. */
  async function createQuiz({ teacher, openSlide }: Awaited<ReturnType<typeof setUp>>) {
    const items = [
      { type: 'slide' as const, id: openSlide, question: choiceQuestion },
      { type: 'slide' as const, id: openSlide, question: regionQuestion },
      { type: 'slide' as const, id: openSlide },
    ];
    const created = await teacher.call(createCollection, {
      body: { title: 'Sınav', items, readers: 'members' },
    });
    expect(created.body.items[0]?.question).toEqual(choiceQuestion);
    return created.body.id;
  }

  it('return the correct answers and regions of quiz questions only to their owner', async () => {
    const world = await setUp();
    const params = { collectionId: await createQuiz(world) };
    const student = world.server.as(
      await world.server.fixtures.user({ role: 'viewer', displayName: 'Öğrenci' }),
    );
    const seenByStudent = await student.call(getCollection, { params });
    expect(JSON.stringify(seenByStudent.body)).not.toMatch(/"correct"|"region":|kenarda/);
    const giveAnswer = (item: number | string, given: number[] | string) =>
      student.call(answerQuestion, { params, body: { item, answer: given } });
    expect((await giveAnswer(0, [0])).body).toEqual({ correct: false, explanation: 'Çekirdek kenarda.' });
    expect((await giveAnswer(0, [1])).body.correct).toBe(true);
    expect((await giveAnswer(1, [50, 50])).body.correct).toBe(true);
    expect((await giveAnswer(1, [150, 50])).body.correct).toBe(false);
    expect((await giveAnswer(0, [2])).status).toBe(400);
    expect((await giveAnswer(2, [0])).status).toBe(404);
    expect((await student.call(listAnswers, { params })).status).toBe(403);
    expect((await world.teacher.call(listAnswers, { params })).body.answers).toMatchObject([
      { item: 0, person: 'Öğrenci', answer: [1], correct: true, attempts: 2 },
      { item: 1, person: 'Öğrenci', answer: [150, 50], correct: false, attempts: 2 },
    ]);
    const csv = await world.teacher.call(listAnswers, { params, query: { format: 'csv' } });
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

  it('return quiz questions to a visitor with a share link, and accept the answers, which the owner can list', async () => {
    const world = await setUp();
    const id = await createQuiz(world);
    const { opened } = await visitorOf(world, id);
    expect(opened).toMatchObject({ collection_id: id });
    expect(opened.items[0]).toMatchObject({
      item: 0,
      question: { kind: 'choice', choices: choiceQuestion.choices },
    });
    expect(JSON.stringify(opened)).not.toMatch(/"correct"|"region":|kenarda|\.tif|Açık/);
    const visitor = world.server.as(null);
    const query = { session: opened.session_id };
    const answered = await visitor.call(answerQuestion, {
      params: { collectionId: id },
      query,
      body: { item: 0, answer: [1] },
    });
    expect(answered).toMatchObject({ status: 200, body: { correct: true } });
    expect(
      (await world.teacher.call(listAnswers, { params: { collectionId: id } })).body.answers,
    ).toMatchObject([{ person: 'Visitor 1', uid: null, correct: true }]);
    const otherCollection = await createQuiz(world);
    expect(
      (
        await visitor.call(answerQuestion, {
          params: { collectionId: otherCollection },
          query,
          body: { item: 0, answer: [1] },
        })
      ).status,
    ).toBe(404);
  });

  it('with IMAGE_SESSION_COOKIE=strict, return 401 to answers and event requests of a visitor without the session cookie', async () => {
    const world = await setUp({ imageSessionCookie: 'strict' });
    const id = await createQuiz(world);
    const { opened } = await visitorOf(world, id);
    const visitor = world.server.as(null);
    const session = opened.session_id;
    const statuses = async (headers: Record<string, string>) => {
      const url = `/collections/${id}`;
      const payload = { item: 0, answer: [1] };
      const answered = await visitor.inject({
        method: 'POST',
        url: `${url}/answers?session=${session}`,
        payload,
        headers,
      });
      const events = await visitor.inject({
        method: 'GET',
        url: `${url}/presentation-events?wait=1&session=${session}`,
        headers,
      });
      return [answered.status, events.status];
    };
    expect(await statuses({})).toEqual([401, 401]);
    const cookie = `image_session_${session.slice(0, 8)}=${session}`;
    expect(await statuses({ cookie })).toEqual([200, 200]);
  });

  it('return 404 to the answer of a visitor when the question is about a slide that the share link does not open', async () => {
    const world = await setUp();
    const { server, admin, teacher, openSlide, restrictedSlide } = world;
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'open', sharing: true } });
    const items = [
      { type: 'slide' as const, id: openSlide, question: choiceQuestion },
      { type: 'slide' as const, id: restrictedSlide, question: choiceQuestion },
    ];
    const { id } = (
      await teacher.call(createCollection, { body: { title: 'Sınav', items, readers: 'members' } })
    ).body;
    const created = await teacher.call(createShareLink, {
      body: { target: { type: 'collection', id }, title: 'Sınav' },
    });
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'open', sharing: false } });
    const secret = created.body.url.split('#')[1] ?? '';
    const opened = (await server.as(null).call(openShareLink, { body: { secret } })).body;
    expect(opened.items.map(({ item }) => item)).toEqual([0]);
    const give = (item: number) =>
      server.as(null).call(answerQuestion, {
        params: { collectionId: id },
        query: { session: opened.session_id },
        body: { item, answer: [0] },
      });
    expect((await give(0)).status).toBe(200);
    expect(await give(1)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    // The same for an account that may not view the slide.
    await admin.call(updateDataset, { body: { dataset: 'Kapalı', access: 'restricted' } });
    const student = server.as(await server.fixtures.user({ role: 'viewer' }));
    const params = { collectionId: id };
    expect((await student.call(answerQuestion, { params, body: { item: 0, answer: [0] } })).status).toBe(200);
    expect((await student.call(answerQuestion, { params, body: { item: 1, answer: [0] } })).status).toBe(404);
  });

  it('list the answers of readers without a display name as Member 1 and Member 2, without their e-mail addresses', async () => {
    const world = await setUp();
    const params = { collectionId: await createQuiz(world) };
    const readers = [
      await world.server.fixtures.user({ role: 'viewer', displayName: null }),
      await world.server.fixtures.user({ role: 'viewer', displayName: null }),
    ];
    for (const reader of readers) {
      world.server.clock.advance(1000); // members are numbered in the order of their answers
      await world.server.as(reader).call(answerQuestion, { params, body: { item: 0, answer: [1] } });
    }
    const { answers } = (await world.teacher.call(listAnswers, { params })).body;
    expect(answers).toMatchObject([
      { person: 'Member 1', uid: readers[0]?.uid },
      { person: 'Member 2', uid: readers[1]?.uid },
    ]);
    const csv = await world.teacher.call(listAnswers, { params, query: { format: 'csv' } });
    expect(JSON.stringify([answers, csv.body])).not.toContain('@');
  });

  it('list the answers of visitors as Visitor 1 and Visitor 2 in the order of their first answers, also after further answers', async () => {
    const world = await setUp();
    const { server, teacher } = world;
    const params = { collectionId: await createQuiz(world) };
    const sessions: string[] = [];
    for (let n = 0; n < 2; n++) {
      sessions.push((await visitorOf(world, params.collectionId)).opened.session_id);
    }
    const give = async (session = '', answer: number) => {
      server.clock.advance(1000);
      const body = { item: 0, answer: [answer] };
      await server.as(null).call(answerQuestion, { params, query: { session }, body });
    };
    const listed = async () =>
      (await teacher.call(listAnswers, { params })).body.answers.map(({ person, answer }) => [
        person,
        answer,
      ]);
    await give(sessions[0], 0);
    await give(sessions[1], 1);
    await give(sessions[0], 1);
    await give(sessions[1], 0);
    await give(sessions[0], 1);
    expect(await listed()).toEqual([
      ['Visitor 1', [1]],
      ['Visitor 2', [0]],
    ]);
  });

  it('reject with 400 a choice question whose correct choice does not exist', async () => {
    const { teacher, openSlide } = await setUp();
    const statusFor = async (correct: number[]) => {
      const question = { ...choiceQuestion, correct };
      const items = [{ type: 'slide' as const, id: openSlide, question }];
      const body = { title: 'Sınav', items, readers: 'members' as const };
      return (await teacher.call(createCollection, { body })).status;
    };
    expect([await statusFor([1]), await statusFor([7])]).toEqual([201, 400]);
  });

  const requestEvents = (server: Pick<TestServer, 'as'>, id: string, query: Record<string, string>) =>
    server.as(null).inject({
      method: 'GET',
      url: `/collections/${id}/presentation-events`,
      query: { wait: '1', ...query },
    });

  /** Connects to the events of a presentation. @returns a function that waits for the data of the next event; null after the last one */
  async function follow({ app }: Pick<TestServer, 'app'>, id: string, query: Record<string, string>) {
    await app.ready();
    const url = `${apiBase}/collections/${id}/presentation-events`;
    const response = await app.inject({ method: 'GET', url, query, payloadAsStream: true });
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const chunks = response.stream().setEncoding('utf8')[Symbol.asyncIterator]();
    let received = '';
    return async (): Promise<unknown> => {
      for (;;) {
        const [event, data] = /^data: (.*)\n\n/m.exec(received) ?? []; // for example `data: {"item":0}`
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

  it('send the field of view of a presenter to followers in the same and in another server process (server-sent events)', async () => {
    const world = await setUp();
    const id = await createQuiz(world);
    const { opened } = await visitorOf(world, id);
    const query = { session: opened.session_id };
    const otherProcess = await world.server.another();
    const params = { collectionId: id };
    await world.teacher.call(present, { params, body: { field, item: 0 } });
    const followers = [await follow(world.server, id, query), await follow(otherProcess, id, query)];
    for (const nextEvent of followers) expect(await nextEvent()).toEqual({ field, item: 0 });
    expect((await world.teacher.call(present, { params, body: { field: null, item: 1 } })).status).toBe(204);
    for (const nextEvent of followers) expect(await nextEvent()).toEqual({ field: null, item: 1 });
  });

  it('end a presentation for its followers when the presenter has sent no state for 90 seconds', async () => {
    const world = await setUp();
    const { server, teacher } = world;
    const id = await createQuiz(world);
    const { opened } = await visitorOf(world, id);
    const params = { collectionId: id };
    await teacher.call(present, { params, body: { field, item: 0 } });
    const nextEvent = await follow(server, id, { session: opened.session_id });
    expect(await nextEvent()).toEqual({ field, item: 0 });
    server.clock.advance(60_000);
    await teacher.call(present, { params, body: { field, item: 0 } }); // repeats the state, which sends no event
    server.clock.advance(60_000);
    await teacher.call(present, { params, body: { field, item: 1 } });
    expect(await nextEvent()).toEqual({ field, item: 1 });
    server.clock.advance(91_000);
    expect(await nextEvent()).toEqual({ field: null, item: null });
    const laterFollower = await follow(server, id, { session: opened.session_id });
    expect(await laterFollower()).toEqual({ field: null, item: null });
  });

  it('send presentation events even when the stored questions of their items are invalid JSON', async () => {
    const world = await setUp();
    const { server, teacher } = world;
    const id = await createQuiz(world);
    const { opened } = await visitorOf(world, id);
    await teacher.call(present, { params: { collectionId: id }, body: { field, item: 0 } });
    await server.services.db.updateTable('collection_items').set({ question: 'not JSON' }).execute();
    const nextEvent = await follow(server, id, { session: opened.session_id });
    expect(await nextEvent()).toEqual({ field, item: 0 });
  });

  it('send a follower the end of the presentation, and no field of view, after the presenter is suspended', async () => {
    const world = await setUp();
    const { server, admin, teacher, owner } = world;
    const id = await createQuiz(world);
    await teacher.call(present, { params: { collectionId: id }, body: { field, item: 0 } });
    await admin.inject({ method: 'POST', url: `/admin/users/${owner.uid}/suspend`, payload: {} });
    const reader = server.as(await server.fixtures.user({ role: 'viewer' }));
    const url = `/collections/${id}/presentation-events?wait=1`;
    const { body } = await reader.inject({ method: 'GET', url });
    expect(String(body)).toContain('data: {"field":null,"item":null}');
    expect(String(body)).not.toContain('"zoom"');
  });

  it('do not extend the sign-in of a follower while a request of the follower waits for presentation events', async () => {
    const world = await setUp();
    const { server } = world;
    const id = await createQuiz(world);
    const token = await server.fixtures.token(await server.fixtures.user());
    const lastUses = () => server.services.db.selectFrom('tokens').select('last_used_at').execute();
    const lastUsesBefore = await lastUses();
    const url = `/collections/${id}/presentation-events`;
    const pendingResponse = server.as(token).inject({ method: 'GET', url, query: { wait: '2' } });
    await new Promise((resolve) => setTimeout(resolve, 500)); // until the follower is connected
    server.clock.advance(50 * 60_000); // rights are checked every second
    expect((await pendingResponse).status).toBe(200);
    expect(await lastUses()).toEqual(lastUsesBefore);
  });

  it('end the waiting event request of a visitor when the share link ends, and return 401 to later event requests', async () => {
    const world = await setUp();
    const id = await createQuiz(world);
    const { opened, linkId } = await visitorOf(world, id);
    const query = { session: opened.session_id, wait: '30' };
    const startedAt = Date.now();
    const pendingResponse = requestEvents(world.server, id, query);
    await new Promise((resolve) => setTimeout(resolve, 500)); // until the follower is connected
    await world.teacher.inject({ method: 'DELETE', url: `/share-links/${linkId}` });
    expect((await pendingResponse).status).toBe(200);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    expect((await requestEvents(world.server, id, query)).status).toBe(401);
  });

  it('close the event stream of a visitor whose share link has ended, even while the presenter moves several times a second', async () => {
    const world = await setUp();
    const id = await createQuiz(world);
    const { opened, linkId } = await visitorOf(world, id);
    const params = { collectionId: id };
    await world.teacher.call(present, { params, body: { field, item: 0 } });
    const nextEvent = await follow(world.server, id, { session: opened.session_id, wait: '30' });
    expect(await nextEvent()).toEqual({ field, item: 0 });
    await world.teacher.inject({ method: 'DELETE', url: `/share-links/${linkId}` });
    const hasEnded = (async () => {
      while ((await nextEvent()) !== null);
      return true;
    })();
    let isFollowing = true;
    void hasEnded.finally(() => {
      isFollowing = false;
    });
    for (let change = 0; isFollowing && change < 25; change++) {
      await world.teacher.call(present, { params, body: { field: { ...field, x: change }, item: 0 } });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(isFollowing).toBe(false); // 25 changes last more than 5 s; rights are checked every second
  });
});
