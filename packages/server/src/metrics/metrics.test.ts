import { apiBase, endpoints, getTile, listImages, signIn } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { slideServer } from '../testing/slide-server.ts';
import { testServer } from '../testing/test-server.ts';
import { metricsPage } from './metrics-page.ts';

/** The value of each series, as Prometheus reads them. */
async function scrape({ services }: Pick<Awaited<ReturnType<typeof testServer>>, 'services'>) {
  const page = await metricsPage([await services.metrics.now()]);
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const sorted = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).sort().join(',');
      return [sorted === '' ? name : `${name}{${sorted}}`, Number(value)];
    }),
  );
}

const tileRoute = apiBase + getTile.path;

describe('metrics', () => {
  it('agree with what was asked and answered', async () => {
    const server = await slideServer();
    const { given, pixels, sessionOf, put, rescan, idOf, as } = server;
    // Deep Zoom levels 9 and 7 of 0…9 are stored.
    const plan = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
    await put('Tissue/a.svs', await buildSvs(plan));
    await rescan();
    const id = await idOf('a.svs');
    const user = await given.user();
    const session = await sessionOf(user);
    const before = await scrape(server);
    const tag = (await pixels(`${id}/image_files/9/1_1.jpg`, session)).headers.etag as string;
    await pixels(`${id}/image_files/9/1_1.jpg`, session, { headers: { 'if-none-match': tag } });
    await pixels(`${id}/image_files/8/0_0.jpg`, session);
    await pixels(`${id}/image_files/8/0_0.jpg`, session);
    await pixels(`${id}/image_files/9/99_99.jpg`, session);
    await pixels(`${id}/image_files/9/1_1.jpg`, 'x'.repeat(43));
    await as(user).call(listImages);
    await as(null).call(listImages);
    await as(null).call(signIn, { body: { email: user.email, password: 'not this one' } });
    const after = await scrape(server);

    const grown = Object.fromEntries(
      [...after]
        .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
        .filter(([, more]) => more !== 0),
    );
    expect(grown).toMatchObject({
      [`http_requests_total{method="GET",route="${tileRoute}",status="200"}`]: 3,
      [`http_requests_total{method="GET",route="${tileRoute}",status="304"}`]: 1,
      [`http_requests_total{method="GET",route="${tileRoute}",status="404"}`]: 1,
      [`http_requests_total{method="GET",route="${tileRoute}",status="401"}`]: 1,
      [`http_requests_total{method="GET",route="${apiBase}/image-catalog/images",status="200"}`]: 1,
      [`http_requests_total{method="GET",route="${apiBase}/image-catalog/images",status="401"}`]: 1,
      [`http_request_seconds_count{route="${tileRoute}"}`]: 6,
      [`http_request_seconds_bucket{le="+Inf",route="${tileRoute}"}`]: 6,
      'tiles_total{result="ok",source="stored"}': 1,
      'tiles_total{result="not_modified",source="stored"}': 1,
      'tiles_total{result="ok",source="made"}': 1,
      'tiles_total{result="ok",source="kept"}': 1,
      'tiles_total{result="not_found",source="none"}': 1,
      'tiles_total{result="session_invalid",source="none"}': 1,
      'tile_seconds_count{kind="stored"}': 2,
      'tile_seconds_count{kind="made"}': 1,
      'tile_seconds_count{kind="kept"}': 1,
      'slide_errors_total{kind="tile_out_of_range"}': 1,
      'auth_failures_total{reason="session_invalid"}': 1,
      'auth_failures_total{reason="token_missing"}': 1,
      'auth_failures_total{reason="credentials_invalid"}': 1,
    });
    expect(after.get('slides_open')).toBe(1);
    expect(after.get('image_sessions_active')).toBe(1);
    expect(after.get('decode_queue_length')).toBe(0);
    expect(after.get('decode_worker_restarts_total')).toBe(0);
    expect(after.get('tile_cache_bytes{where="memory"}')).toBeGreaterThan(0);
    expect(after.get('tile_cache_hits_total{where="memory"}')).toBeGreaterThan(0);
    expect(after.get('db_pool_in_use')).toBe(0);
    expect(grown['db_seconds_count{kind="select"}']).toBeGreaterThan(0);
  });

  it('count what the fast lane of tiles answers as the route would', async () => {
    // A log that tells of good tiles closes the lane.
    const server = await slideServer({ config: { logLevel: 'info' } });
    const { app, services, given, sessionOf, put, rescan, idOf } = server;
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    await put(
      'Tissue/a.svs',
      await buildSvs({ width: 480, height: 400, tileSize: 128, downsamples: [1, 4] }),
    );
    await rescan();
    const session = await sessionOf(await given.user());
    const url = `${address}${apiBase}/image-catalog/proxy/${await idOf('a.svs')}/image_files`;
    const ask = async (tile: string, init: RequestInit = {}) => {
      const answer = await fetch(`${url}/${tile}?session=${session}`, init);
      await answer.arrayBuffer();
      return answer;
    };
    // By the route: neither the session nor the slide is in memory, and the other tile has to be made.
    await ask('9/0_0.jpg');
    await ask('8/0_0.jpg');
    const before = await scrape(server);
    const inLane = () =>
      services.metrics.lane
        .durations('stored')
        .counts()
        .reduce((sum, n) => sum + n, 0);
    expect(inLane()).toBe(0);

    const tag = (await ask('9/1_1.jpg')).headers.get('etag') ?? '';
    await ask('9/1_1.jpg', { method: 'HEAD' });
    await ask('8/0_0.jpg');
    await ask('9/1_1.jpg', { headers: { 'if-none-match': tag } });
    expect(inLane()).toBeGreaterThan(0);
    const after = await scrape(server);
    const grown = (series: string) => (after.get(series) ?? 0) - (before.get(series) ?? 0);
    expect(grown(`http_requests_total{method="GET",route="${tileRoute}",status="200"}`)).toBe(2);
    expect(grown(`http_requests_total{method="HEAD",route="${tileRoute}",status="200"}`)).toBe(1);
    expect(grown(`http_requests_total{method="GET",route="${tileRoute}",status="304"}`)).toBe(1);
    expect(grown(`http_request_seconds_count{route="${tileRoute}"}`)).toBe(4);
    expect(grown('tiles_total{result="ok",source="stored"}')).toBe(2);
    expect(grown('tiles_total{result="ok",source="kept"}')).toBe(1);
    const known = ['none', 'stored'].map((source) =>
      grown(`tiles_total{result="not_modified",source="${source}"}`),
    );
    expect(known).toContain(1); // the lane reads nothing for it; on a machine that stood still for a second the route does
    expect(grown('tile_seconds_count{kind="kept"}')).toBe(1);
    expect(after.get('http_connections')).toBeGreaterThan(0);
  });

  it('count whoever had to wait, by what was tried', async () => {
    const server = await testServer();
    const user = await server.given.user();
    const body = { email: user.email, password: 'not this one' };
    const tries = Array.from({ length: 12 });
    const statuses: number[] = [];
    for (const _ of tries) statuses.push((await server.as(null).call(signIn, { body })).status);
    const refused = statuses.filter((status) => status === 429).length;
    expect(refused).toBeGreaterThan(0);
    expect((await scrape(server)).get('rate_limited_total{rule="password"}')).toBe(refused);
  });

  it('have few series, and no label that names anybody or anything', async () => {
    const server = await testServer();
    const admin = await server.given.admin();
    const image = await server.given.image();
    const ids = [admin.uid, image.id, 'b'.repeat(43)];
    const token = await server.given.token(admin);
    for (const who of [token, null]) {
      for (const { method, path } of Object.values(endpoints)) {
        for (const id of ids) {
          await server.as(who).inject({ method, url: path.replaceAll(/:\w+/g, id) });
        }
      }
    }
    for (const id of ids) {
      await server.app.inject({ url: `/${id}` });
      await server.app.inject({ url: `${apiBase}/${id}`, method: 'DELETE' });
    }
    const page = await metricsPage([await server.services.metrics.now()]);
    for (const id of [...ids, admin.email, token]) expect(page).not.toContain(id);
    expect((await scrape(server)).size).toBeLessThan(2000);
  });

  it('are not told at the public port', async () => {
    const { app } = await testServer();
    expect((await app.inject({ url: '/metrics' })).statusCode).toBe(404);
    expect((await app.inject({ url: '/metrics/' })).statusCode).toBe(404);
  });

  it('leave out what cannot be looked at, and tell the rest', async () => {
    const server = await testServer();
    await server.services.db.destroy();
    const series = await scrape(server);
    expect(series.has('image_sessions_active')).toBe(false);
    expect(series.get('slides_open')).toBe(0);
  });
});
