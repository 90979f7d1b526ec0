/**
 * The audit log has an event for the first request of a session for pixels of a slide, whichever endpoint sends them. "First
 * pixel" below means this request.
 */
import {
  AppError,
  deleteImageSession,
  type Endpoint,
  endpoints,
  getActivity,
  getStatistics,
} from '@lamina/contract';
import { buildIcc, buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';
import { startPixelClient } from '../testing/wire.ts';
import { checkChain } from './chain-check.ts';

const thumbnail = 'thumbnail.jpg';
const descriptor = 'image.dzi';
const nativeTile = 'image_files/9/1_1.jpg';
const renderedTile = 'image_files/8/0_0.jpg';

let svs: Uint8Array;
beforeAll(async () => {
  svs = await buildSvs({ width: 480, height: 400, tileSize: 128, downsamples: [1, 4], profile: buildIcc() });
});

interface Variant {
  readonly database: (typeof databaseKinds)[number];
  readonly tileAdapter: string;
  readonly tileFastPath: boolean;
}

const variants: readonly Variant[] = databaseKinds.flatMap((database) =>
  tileAdapters.map((adapter) => ({ database, ...adapter })),
);

async function serverWithSlides({ database, tileFastPath }: Variant, count = 1) {
  const server = await slideServer({ database, config: { tileFastPath } });
  for (let slide = 0; slide < count; slide++) await server.put(`Tissue/${slide}.svs`, svs);
  await server.rescan();
  const imageIds: string[] = [];
  for (let slide = 0; slide < count; slide++) imageIds.push(await server.idOf(`${slide}.svs`));
  const user = await server.fixtures.user();
  const token = await server.fixtures.token(user);
  const session = await server.sessionOf(token);
  return { ...server, imageIds, imageId: imageIds[0] ?? '', user, token, session };
}

/** Returns the events image-opened and image-viewed, oldest first. `by` is the kind of request that loaded the pixels. */
async function entriesOf({ services }: Pick<SlideServer, 'services'>) {
  const rows = await services.db
    .selectFrom('audit')
    .select(['action', 'actor_uid', 'target', 'detail', 'address', 'request_id', 'at'])
    .where('action', 'in', ['image-opened', 'image-viewed'])
    .orderBy('seq')
    .execute();
  return rows.map(({ detail, ...row }) => ({
    ...row,
    ...(JSON.parse(detail) as { by: string; file_name: string }),
  }));
}

describe.each(variants)(
  'audit of slides opened with an image session (credential for tiles; database: $database; tiles via $tileAdapter)',
  (variant) => {
    it.each([
      ['the thumbnail', thumbnail, 'thumbnail'],
      ['the Deep Zoom descriptor', descriptor, 'descriptor'],
      ['a native tile (stored in the file)', nativeTile, 'tile'],
      ['a rendered tile (computed by the server)', renderedTile, 'tile'],
    ])(
      'records the event image-opened once when an image session requests only %s of a slide, three times',
      async (_, address, by) => {
        const server = await serverWithSlides(variant);
        const { imageId, session, user } = server;
        for (let request = 0; request < 3; request++) {
          expect((await server.pixels(`${imageId}/${address}`, session)).statusCode).toBe(200);
        }
        expect(await entriesOf(server)).toMatchObject([
          {
            action: 'image-opened',
            actor_uid: user.uid,
            target: imageId,
            by,
            file_name: '0.svs',
            address: '127.0.0.1',
            request_id: expect.any(String),
          },
        ]);
      },
    );

    it('records the event image-opened for the first request of a session, at each endpoint that sends pixels', async () => {
      const pixelEndpoints = Object.values<Endpoint>(endpoints).filter(
        ({ access, path }) => access === 'image-session' && path.startsWith('/image-catalog/proxy/'),
      );
      expect(pixelEndpoints.length).toBeGreaterThanOrEqual(3);
      const server = await serverWithSlides(variant);
      for (const { method, path } of pixelEndpoints) {
        const session = await server.sessionOf(server.token);
        const before = (await entriesOf(server)).length;
        const address = path
          .replace('/image-catalog/proxy/', '')
          .replace(':imageId', server.imageId)
          .replace(':dziLevel', '9')
          .replace(':tile', '1_1.jpg');
        const { statusCode } = await server.pixels(address, session, { method: method as 'GET' });
        expect([path, statusCode]).toEqual([path, 200]);
        expect([path, (await entriesOf(server)).length - before]).toEqual([path, 1]);
      }
    });

    it('records the event image-opened also for a second image session of the account, although slide and account are already in memory', async () => {
      const server = await serverWithSlides(variant);
      const { imageId, token, session } = server;
      const requestPixels = await startPixelClient(server);
      await requestPixels(`${imageId}/${nativeTile}`, session); // loads the slide and the account into memory
      const secondSession = await server.sessionOf(token);
      for (const tile of ['9/0_0', '9/1_1', '9/2_2']) {
        expect((await requestPixels(`${imageId}/image_files/${tile}.jpg`, secondSession)).status).toBe(200);
      }
      expect((await entriesOf(server)).map(({ action, target, by }) => [action, target, by])).toEqual([
        ['image-opened', imageId, 'tile'],
        ['image-opened', imageId, 'tile'],
      ]);
    });

    it('records the event image-opened once for each slide when one session requests 27 tiles of 6 slides concurrently', async () => {
      const server = await serverWithSlides(variant, 6);
      const requestPixels = await startPixelClient(server);
      const requests = Array.from({ length: 27 }, (_, i) =>
        requestPixels(
          `${server.imageIds[i % 6]}/image_files/9/${i % 3}_${Math.floor(i / 9)}.jpg`,
          server.session,
        ),
      );
      for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
      const opened = await entriesOf(server);
      expect(opened.map(({ action }) => action)).toEqual(Array(6).fill('image-opened'));
      expect(new Set(opened.map(({ target }) => target))).toEqual(new Set(server.imageIds));
      expect(await checkChain(server.services.db)).toMatchObject({ state: 'intact' });
    });

    it('records image-opened for a request for the thumbnail, and image-viewed once for all later requests for the slide', async () => {
      const server = await serverWithSlides(variant, 2);
      const { imageIds, session, token, clock } = server;
      for (const id of imageIds) await server.pixels(`${id}/${thumbnail}`, session);
      clock.advance(60_000);
      for (const address of [descriptor, nativeTile, renderedTile, thumbnail]) {
        await server.pixels(`${imageIds[0]}/${address}`, session);
      }
      expect((await entriesOf(server)).map(({ action, target, by }) => [action, target, by])).toEqual([
        ['image-opened', imageIds[0], 'thumbnail'],
        ['image-opened', imageIds[1], 'thumbnail'],
        ['image-viewed', imageIds[0], 'descriptor'],
      ]);
      const { activity } = (await server.as(token).call(getActivity)).body;
      expect(activity.filter(({ action }) => action === 'image-opened')).toEqual([
        { at: clock.now().toISOString(), action: 'image-opened', subject: '0.svs', imageId: imageIds[0] },
      ]);
      const admin = await server.fixtures.admin();
      const { days } = (await server.as(admin).call(getStatistics)).body;
      expect(days.at(-1)).toMatchObject({ openedSlides: 1 });
    });

    it('records the event image-opened once when two server processes send pixels of a slide to one session', async () => {
      const server = await serverWithSlides(variant);
      const { imageId, session } = server;
      const otherProcess = await server.another();
      const url = (address: string) => `/image-catalog/proxy/${imageId}/${address}?session=${session}`;
      await Promise.all([
        server.pixels(`${imageId}/${nativeTile}`, session),
        otherProcess.as(null).inject({ url: url(nativeTile) }),
        otherProcess.as(null).inject({ url: url(descriptor) }),
      ]);
      expect((await otherProcess.as(null).inject({ url: url(nativeTile) })).status).toBe(200);
      expect((await entriesOf(server)).map(({ action }) => action)).toEqual(['image-opened']);
    });

    it('records no event for a request that gets 404 or 401 instead of pixels', async () => {
      const server = await serverWithSlides(variant);
      const { imageId, session } = server;
      for (const address of ['image_files/9/99_99.jpg', 'image_files/99/0_0.jpg', 'label.jpg']) {
        expect((await server.pixels(`${imageId}/${address}`, session)).statusCode).toBe(404);
      }
      expect((await server.pixels(`${imageId}/${nativeTile}`, null)).statusCode).toBe(401);
      expect(await entriesOf(server)).toEqual([]);
    });

    it('throws the error session_invalid and records no event when the session ends between permission check and recording', async () => {
      const server = await serverWithSlides(variant);
      const { imageId, session, token, services } = server;
      const resolvedSession = await services.imageSessions.resolve(session);
      if (resolvedSession === null) throw new Error('the session is not valid');
      await server.as(token).call(deleteImageSession, { params: { sessionId: session } });
      const origin = { address: '127.0.0.1', requestId: null };
      await expect(
        services.imageOpenings.record(resolvedSession, { id: imageId, fileName: '0.svs' }, 'tile', origin),
      ).rejects.toMatchObject({ code: 'session_invalid' });
      expect(await entriesOf(server)).toEqual([]);
    });

    it('returns 503 for the first request for pixels of a slide while the audit log cannot be written, and 200 afterwards', async () => {
      const server = await serverWithSlides(variant, 2);
      const { imageIds, session, services } = server;
      await server.pixels(`${imageIds[0]}/${nativeTile}`, session);
      const failing = vi
        .spyOn(services.audit, 'recordAll')
        .mockRejectedValue(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }));
      onTestFinished(() => failing.mockRestore());
      for (const address of [nativeTile, renderedTile, descriptor, thumbnail]) {
        const { statusCode } = await server.pixels(`${imageIds[1]}/${address}`, session);
        expect([address, statusCode]).toEqual([address, 503]);
      }
      expect((await server.pixels(`${imageIds[0]}/${nativeTile}`, session)).statusCode).toBe(200);
      failing.mockRestore();
      expect((await server.pixels(`${imageIds[1]}/${nativeTile}`, session)).statusCode).toBe(200);
      expect((await entriesOf(server)).map(({ target }) => target)).toEqual(imageIds);
    });

    it('sends pixels of a newly opened slide while the database is down, and later records image-opened with the original time', async () => {
      const server = await serverWithSlides(variant, 2);
      const { imageIds, session, services, clock, user } = server;
      await server.pixels(`${imageIds[0]}/${nativeTile}`, session);
      await server.pixels(
        `${imageIds[1]}/${nativeTile}`,
        await server.sessionOf(await server.fixtures.user()),
      );
      const failing = vi
        .spyOn(services.audit, 'recordAll')
        .mockRejectedValue(new AppError('unavailable', { cause: 'The database does not answer.' }));
      onTestFinished(() => failing.mockRestore());
      for (const address of [nativeTile, nativeTile, descriptor]) {
        expect((await server.pixels(`${imageIds[1]}/${address}`, session)).statusCode).toBe(200);
      }
      const openedAt = clock.now().toISOString();
      expect(server.logged()).toContain('audit event of an image opening delayed: database unavailable');
      clock.advance(500);
      failing.mockRestore();
      await vi.waitFor(
        async () =>
          expect((await entriesOf(server)).at(-1)).toMatchObject({
            action: 'image-opened',
            actor_uid: user.uid,
            target: imageIds[1],
            at: openedAt,
          }),
        { timeout: 10_000 },
      );
      expect(await entriesOf(server)).toHaveLength(3);
      expect(await checkChain(services.db)).toMatchObject({ state: 'intact' });
    });
  },
);
