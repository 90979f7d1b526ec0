import { apiBase, endpoints, getTile, listImages, signIn } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { tileAdapters } from '../testing/inject.ts';
import { slideServer } from '../testing/slide-server.ts';
import { testServer } from '../testing/test-server.ts';
import { metricsPage } from './metrics-page.ts';

/** Returns the value of each series on the metrics page, by name and sorted labels: `tiles_total{result="ok",source="made"}`. */
async function scrape({ services }: Pick<Awaited<ReturnType<typeof testServer>>, 'services'>) {
  const page = await metricsPage([await services.metrics.now()]);
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const sortedLabels = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).sort().join(',');
      return [sortedLabels === '' ? name : `${name}{${sortedLabels}}`, Number(value)];
    }),
  );
}

const tileRoute = apiBase + getTile.path;

describe('Prometheus metrics', () => {
  it('count requests by route and status, tiles by result and source, slide errors and failed authentications by reason', async () => {
    const server = await slideServer();
    const { fixtures, pixels, sessionOf, put, rescan, idOf, as } = server;
    // Native tiles at Deep Zoom levels 9 and 7 of 0…9.
    const options = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
    await put('Tissue/a.svs', await buildSvs(options));
    await rescan();
    const id = await idOf('a.svs');
    const user = await fixtures.user();
    const session = await sessionOf(user);
    const before = await scrape(server);
    const etag = (await pixels(`${id}/image_files/9/1_1.jpg`, session)).headers.etag as string; // native
    await pixels(`${id}/image_files/9/1_1.jpg`, session, { headers: { 'if-none-match': etag } }); // 304
    await pixels(`${id}/image_files/8/0_0.jpg`, session); // rendered
    await pixels(`${id}/image_files/8/0_0.jpg`, session); // cached
    await pixels(`${id}/image_files/9/99_99.jpg`, session); // 404
    await pixels(`${id}/image_files/9/1_1.jpg`, 'x'.repeat(43)); // 401, an unknown session
    await as(user).call(listImages);
    await as(null).call(listImages);
    await as(null).call(signIn, { body: { email: user.email, password: 'not this one' } });
    const after = await scrape(server);

    const increase = Object.fromEntries(
      [...after]
        .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
        .filter(([, difference]) => difference !== 0),
    );
    expect(increase).toMatchObject({
      [`http_requests_total{method="GET",route="${tileRoute}",status="200"}`]: 3,
      [`http_requests_total{method="GET",route="${tileRoute}",status="304"}`]: 1,
      [`http_requests_total{method="GET",route="${tileRoute}",status="404"}`]: 1,
      [`http_requests_total{method="GET",route="${tileRoute}",status="401"}`]: 1,
      [`http_requests_total{method="GET",route="${apiBase}/image-catalog/images",status="200"}`]: 1,
      [`http_requests_total{method="GET",route="${apiBase}/image-catalog/images",status="401"}`]: 1,
      [`http_request_seconds_count{route="${tileRoute}"}`]: 6,
      [`http_request_seconds_bucket{le="+Inf",route="${tileRoute}"}`]: 6,
      'tiles_total{result="ok",source="stored"}': 1,
      'tiles_total{result="not_modified",source="none"}': 1,
      'tiles_total{result="ok",source="made"}': 1,
      'tiles_total{result="ok",source="kept"}': 1,
      'tiles_total{result="not_found",source="none"}': 1,
      'tiles_total{result="session_invalid",source="none"}': 1,
      'tile_seconds_count{kind="stored"}': 1,
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
    expect(increase['db_seconds_count{kind="select"}']).toBeGreaterThan(0);
  });

  it.each(tileAdapters)(
    'count the tiles that $tileAdapter sends (the fast path is a request handler in front of Fastify)',
    async ({ tileFastPath }) => {
      const server = await slideServer({ config: { tileFastPath } });
      const { app, services, fixtures, sessionOf, put, rescan, idOf } = server;
      const address = await app.listen({ host: '127.0.0.1', port: 0 });
      await put(
        'Tissue/a.svs',
        await buildSvs({ width: 480, height: 400, tileSize: 128, downsamples: [1, 4] }),
      );
      await rescan();
      const session = await sessionOf(await fixtures.user());
      const url = `${address}${apiBase}/image-catalog/proxy/${await idOf('a.svs')}/image_files`;
      const requestTile = async (tile: string, init: RequestInit = {}) => {
        const response = await fetch(`${url}/${tile}?session=${session}`, init);
        await response.arrayBuffer();
        return response;
      };
      await requestTile('9/0_0.jpg');
      await requestTile('8/0_0.jpg'); // is in the cache from now on
      const before = await scrape(server);
      const etag = (await requestTile('9/1_1.jpg')).headers.get('etag') ?? '';
      await requestTile('9/1_1.jpg', { method: 'HEAD' });
      await requestTile('8/0_0.jpg');
      await requestTile('9/1_1.jpg', { headers: { 'if-none-match': etag } });
      expect(services.metrics.tiles.fastPathResponses('HEAD', 200)).toBe(tileFastPath ? 1 : 0);
      const after = await scrape(server);
      const increase = (series: string) => (after.get(series) ?? 0) - (before.get(series) ?? 0);
      expect(increase(`http_requests_total{method="GET",route="${tileRoute}",status="200"}`)).toBe(2);
      expect(increase(`http_requests_total{method="HEAD",route="${tileRoute}",status="200"}`)).toBe(1);
      expect(increase(`http_requests_total{method="GET",route="${tileRoute}",status="304"}`)).toBe(1);
      expect(increase(`http_request_seconds_count{route="${tileRoute}"}`)).toBe(4);
      expect(increase('tiles_total{result="ok",source="stored"}')).toBe(2); // GET and HEAD
      expect(increase('tiles_total{result="ok",source="kept"}')).toBe(1);
      expect(increase('tiles_total{result="not_modified",source="none"}')).toBe(1);
      expect(increase('tile_seconds_count{kind="kept"}')).toBe(1);
      expect(after.get('http_connections')).toBeGreaterThan(0);
    },
  );

  it('count sign-in attempts that the limit for wrong passwords rejects with 429', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const body = { email: user.email, password: 'not this one' };
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await server.as(null).call(signIn, { body })).status);
    const throttled = statuses.filter((status) => status === 429).length;
    expect(throttled).toBeGreaterThan(0);
    expect((await scrape(server)).get('rate_limited_total{rule="password"}')).toBe(throttled);
  });

  it('have fewer than 20 series per endpoint, and no label that contains an id, e-mail address or token', async () => {
    const server = await testServer();
    const admin = await server.fixtures.admin();
    const image = await server.fixtures.image();
    const ids = [admin.uid, image.id, 'b'.repeat(43)]; // the last one has the form of a token
    const token = await server.fixtures.token(admin);
    for (const caller of [token, null]) {
      for (const { method, path } of Object.values(endpoints)) {
        for (const id of ids) {
          await server.as(caller).inject({ method, url: path.replaceAll(/:\w+/g, id) });
        }
      }
    }
    for (const id of ids) {
      await server.app.inject({ url: `/${id}` });
      await server.app.inject({ url: `${apiBase}/${id}`, method: 'DELETE' });
    }
    const page = await metricsPage([await server.services.metrics.now()]);
    for (const id of [...ids, admin.email, token]) expect(page).not.toContain(id);
    // The two callers get at most four different statuses from an endpoint, each with a few series.
    expect((await scrape(server)).size).toBeLessThan(20 * Object.keys(endpoints).length);
  });

  it('are not served at the public port: GET /metrics returns 404', async () => {
    const { app } = await testServer();
    expect((await app.inject({ url: '/metrics' })).statusCode).toBe(404);
    expect((await app.inject({ url: '/metrics/' })).statusCode).toBe(404);
  });

  it('omit gauges that cannot be read while the database is down', async () => {
    const server = await testServer();
    await server.services.db.destroy();
    const series = await scrape(server);
    expect(series.has('image_sessions_active')).toBe(false);
    expect(series.get('slides_open')).toBe(0);
  });
});
