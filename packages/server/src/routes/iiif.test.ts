/** IIIF through HTTP: documents, images, credentials, cross-origin access, and a log without image sessions. */
import { createImageSession, deleteImageSession } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';
import { missingId } from '../testing/well-formed-requests.ts';

/** 480 × 400 pixels in tiles of 128; native levels at downsample 1 and 4 are the Deep Zoom levels 9 and 7 of 0…9. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;

let server: SlideServer;
let id: string;
let token: string;
let session: string;

beforeAll(async () => {
  server = await slideServer({ isShared: true });
  await server.put('Tissue/good.svs', await buildSvs(slideOptions));
  await server.rescan();
  id = await server.idOf('good.svs');
  const user = await server.fixtures.user();
  token = await server.fixtures.token(user);
  session = await server.sessionOf(token);
});
afterAll(() => server.close());

const get = (url: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  server.app.inject({ url, headers });
const getImage = (path: string) => get(`/iiif/image/${id}/${path}`);
const rasterOf = async (bytes: Uint8Array) =>
  sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });

describe('IIIF image information (info.json)', () => {
  it.each([
    ['application/json, application/ld+json;q=0', 'application/json'],
    ['application/ld+json;q=0.5, application/json', 'application/json'],
    ['application/json;q=0.5, application/ld+json', 'application/ld+json'],
    ['application/json, application/ld+json', 'application/ld+json'],
    ['text/html, */*', 'application/json'],
  ])('for the Accept header "%s" is sent as %s', async (accept, type) => {
    const { headers } = await get(`/iiif/image/${id}/info.json`, {
      authorization: `Bearer ${token}`,
      accept,
    });
    expect(String(headers['content-type']).split(';')[0]).toBe(type);
  });

  it('lists the tile size and the scale factors of the levels that the file stores', async () => {
    const response = await getImage('info.json');
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toMatchObject({
      '@context': 'http://iiif.io/api/image/3/context.json',
      id: `http://localhost:80/iiif/image/${id}`,
      type: 'ImageService3',
      protocol: 'http://iiif.io/api/image',
      profile: 'level2',
      width: 480,
      height: 400,
      maxArea: 2 ** 22,
      maxWidth: 65_500,
      tiles: [{ width: 128, height: 128, scaleFactors: [1, 4] }],
    });
  });

  it('is sent as JSON when the Accept header is longer than 2048 characters, which the server does not parse', async () => {
    const accept = `application/ld+json, ${'a'.repeat(2048)}`;
    const response = await get(`/iiif/image/${id}/info.json`, { authorization: `Bearer ${token}`, accept });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('has the media type of JSON-LD for a client that accepts JSON-LD', async () => {
    const response = await get(`/iiif/image/${id}/info.json`, {
      authorization: `Bearer ${token}`,
      accept: 'application/ld+json',
    });
    expect(response.headers['content-type']).toBe(
      'application/ld+json;profile="http://iiif.io/api/image/3/context.json"',
    );
  });

  it('has the URL at which it was requested as its id', async () => {
    const belowApiBase = await get(`/api/v1/iiif/image/${id}/info.json`);
    expect(belowApiBase.json()).toMatchObject({ id: `http://localhost:80/api/v1/iiif/image/${id}` });
    const withSession = await get(`/iiif/session/${session}/image/${id}/info.json`, {});
    expect(withSession.json()).toMatchObject({
      id: `http://localhost:80/iiif/session/${session}/image/${id}`,
    });
  });

  it.each([
    ['a bearer token', '', 'private, no-cache'],
    ['an image session (credential for tiles) of 3600 s in the path', 'session', 'private, max-age=3600'],
  ])(
    'has the header "Cache-Control: $2" when it is requested with %s',
    async (_, credential, cacheControl) => {
      const base = credential === '' ? '/iiif' : `/iiif/session/${session}`;
      const headers: Record<string, string> = credential === '' ? { authorization: `Bearer ${token}` } : {};
      for (const path of ['info.json', 'full/100,/0/default.jpg']) {
        const response = await get(`${base}/image/${id}/${path}`, headers);
        expect([response.statusCode, response.headers['cache-control']]).toEqual([200, cacheControl]);
      }
    },
  );

  it('is the target of the redirect from the image URI, whose Location header is a path without a host', async () => {
    for (const [base, headers] of [
      [`/iiif/image/${id}`, { authorization: `Bearer ${token}` }],
      [`/api/v1/iiif/image/${id}`, { authorization: `Bearer ${token}` }],
      [`/iiif/session/${session}/image/${id}`, {}],
    ] as const) {
      for (const host of ['attacker.example', '[', 'a:99999']) {
        const response = await get(base, { ...headers, host });
        expect([response.statusCode, response.headers.location]).toEqual([303, `${base}/info.json`]);
      }
    }
  });
});

describe('IIIF image request for a slide of 480 × 400 pixels', () => {
  it('returns the unchanged bytes of a native tile (stored in the file) when the requested region is exactly this tile', async () => {
    for (const [path, tile] of [
      ['128,0,128,128/128,128/0/default.jpg', '9/1_0.jpg'],
      ['0,0,480,400/120,100/0/default.jpg', '7/0_0.jpg'],
      ['384,384,96,16/max/0/color.jpg', '9/3_3.jpg'],
    ] as const) {
      const [iiif, dzi] = [await getImage(path), await server.pixels(`${id}/image_files/${tile}`, session)];
      expect(iiif.statusCode).toBe(200);
      expect(iiif.rawPayload).toEqual(dzi.rawPayload);
    }
  });

  it.each([
    ['full/max/0/default.jpg', 480, 400],
    ['square/50,/0/default.jpg', 50, 50],
    ['10,20,100,50/max/0/default.png', 100, 50],
    ['pct:10,10,50,50/pct:50/180/default.jpg', 120, 100],
    ['full/,100/90/gray.png', 100, 120],
    ['full/!99,99/270/color.png', 83, 99],
    ['full/1,400/0/default.png', 1, 400],
    ['full/480,1/0/default.png', 480, 1],
    ['pct%3A10,10,50,50/pct%3A50/%21180/default.jpg', 120, 100],
    ['10%2C20%2C100%2C50/%2150,50/0/default.png', 50, 25],
  ])('for the path "%s" returns an image of %s × %s pixels', async (path, width, height) => {
    const response = await getImage(path);
    expect(response.headers['content-type']).toBe(path.endsWith('png') ? 'image/png' : 'image/jpeg');
    expect((await rasterOf(response.rawPayload)).info).toMatchObject({ width, height });
  });

  it('with the rotation !90 mirrors the image first and then rotates it clockwise', async () => {
    const [plain, rotated, mirrored] = await Promise.all(
      ['0', '90', '!90'].map(async (rotation) =>
        rasterOf((await getImage(`0,0,100,60/max/${rotation}/default.png`)).rawPayload),
      ),
    );
    const pixel = (raster: typeof plain, x: number, y: number) =>
      raster?.data.subarray((y * raster.info.width + x) * 3, (y * raster.info.width + x) * 3 + 3);
    expect(rotated?.info).toMatchObject({ width: 60, height: 100 });
    for (const [x, y] of [
      [3, 7],
      [90, 50],
    ] as const) {
      expect(pixel(rotated, 59 - y, x)).toEqual(pixel(plain, x, y));
      expect(pixel(mirrored, 59 - y, 99 - x)).toEqual(pixel(plain, x, y));
    }
  });

  it('returns pixels with equal red, green and blue values for the quality gray', async () => {
    const { data } = await rasterOf((await getImage('full/100,/0/gray.png')).rawPayload);
    for (let at = 0; at < data.length; at += 3) {
      expect([data[at + 1], data[at + 2]]).toEqual([data[at], data[at]]);
    }
  });

  it.each([
    ['an enlarged size (full/^600,/0/default.jpg)', 'full/^600,/0/default.jpg'],
    ['an enlarged size, percent-encoded (full/%5E600,/0/default.jpg)', 'full/%5E600,/0/default.jpg'],
    ['the format tif', 'full/max/0/default.tif'],
    ['a region of two numbers (1,2/max/0/default.jpg)', '1,2/max/0/default.jpg'],
    ['the rotation 45', 'full/max/45/default.jpg'],
    ['the quality bitonal', 'full/max/0/bitonal.jpg'],
    ['the format webp', 'full/max/0/default.webp'],
    ['a region outside the slide (480,0,1,1/max/0/default.jpg)', '480,0,1,1/max/0/default.jpg'],
    ['a width of 20 digits', 'full/99999999999999999999,/0/default.jpg'],
    ['a region with a number of 400 digits', `${'9'.repeat(400)},0,1,1/max/0/default.jpg`],
    ['a null byte as region', '%00/max/0/default.jpg'],
  ])('returns 400 for %s', async (_, path) => {
    expect((await getImage(path)).json()).toMatchObject({ code: 'invalid_request' });
  });

  it('returns 304 when If-None-Match is * or contains the ETag (strong or weak, alone or in a list)', async () => {
    const { etag } = (await getImage('full/50,/0/default.jpg')).headers;
    const conditional = async (ifNoneMatch: string) =>
      get(`/iiif/image/${id}/full/50,/0/default.jpg`, {
        authorization: `Bearer ${token}`,
        'if-none-match': ifNoneMatch,
      });
    for (const ifNoneMatch of [`${etag}`, `W/${etag}`, `"a", W/${etag} , "b"`, '*']) {
      const { statusCode, body } = await conditional(ifNoneMatch);
      expect([ifNoneMatch, statusCode, body]).toEqual([ifNoneMatch, 304, '']);
    }
    for (const ifNoneMatch of ['"a"', 'W/"a", "b"', '', `${etag}x`]) {
      expect([ifNoneMatch, (await conditional(ifNoneMatch)).statusCode]).toEqual([ifNoneMatch, 200]);
    }
  });
});

describe('IIIF manifest of a slide', () => {
  it('has one canvas with the image service, and URLs on the host of the request', async () => {
    const bases = [
      [`/iiif`, { authorization: `Bearer ${token}` }],
      [`/iiif/session/${session}`, {}],
    ] as const;
    for (const [base, headers] of bases) {
      const { items, ...manifest } = (await get(`${base}/manifest/${id}`, headers)).json<{
        items: { items: { items: { body: object }[] }[] }[];
      }>();
      const root = `http://localhost:80${base}`;
      expect(manifest).toMatchObject({
        '@context': 'http://iiif.io/api/presentation/3/context.json',
        id: `${root}/manifest/${id}`,
        type: 'Manifest',
        label: { none: ['good.svs'] },
      });
      expect(items).toMatchObject([{ type: 'Canvas', width: 480, height: 400 }]);
      expect(items[0]?.items[0]?.items[0]).toMatchObject({
        motivation: 'painting',
        target: `${root}/manifest/${id}/canvas/1`,
        body: {
          id: `${root}/image/${id}/full/max/0/default.jpg`,
          service: [{ id: `${root}/image/${id}`, type: 'ImageService3', profile: 'level2' }],
        },
      });
    }
  });
});

describe('the server log of IIIF requests', () => {
  it('never contains the id of the image session (credential for tiles) in a request path, whether the request succeeds or fails', async () => {
    const paths = ['info.json', 'full/50,/0/default.jpg', 'full/x/0/default.jpg', 'a/b', ''];
    for (const path of paths) await get(`/iiif/session/${session}/image/${id}/${path}`, {});
    await get(`/iiif/session/${session}/nothing`, {});
    await get(`/iiif/session/${session}/image/${missingId}/info.json`, {});
    expect(server.logged()).toContain('/iiif/session/:sessionId/');
    expect(server.logged()).not.toContain(session);
  });
});

describe('access to IIIF', () => {
  it('requires a bearer token or a valid image session (credential for tiles) in the path', async () => {
    for (const path of [`image/${id}/info.json`, `image/${id}/full/50,/0/default.jpg`, `manifest/${id}`]) {
      expect((await get(`/iiif/${path}`, {})).json()).toMatchObject({ code: 'token_missing' });
      expect((await get(`/iiif/session/${'A'.repeat(43)}/${path}`, {})).json()).toMatchObject({
        code: 'session_invalid',
      });
      expect((await get(`/iiif/session/${session}/${path}`, {})).statusCode).toBe(200);
    }
  });

  it('ends when the image session (credential for tiles) in the path ends', async () => {
    const user = await server.fixtures.user();
    const client = server.as(await server.fixtures.token(user));
    const { session_id: sessionId } = (await client.call(createImageSession)).body;
    const url = `/iiif/session/${sessionId}/image/${id}/info.json`;
    expect((await get(url, {})).statusCode).toBe(200);
    await client.call(deleteImageSession, { params: { sessionId } });
    expect((await get(url, {})).json()).toMatchObject({ code: 'session_invalid' });
  });

  it('to a missing slide returns 404', async () => {
    for (const path of ['info.json', 'full/max/0/default.jpg', 'x/y/z/w', '']) {
      expect((await get(`/iiif/image/${missingId}/${path}`)).json()).toMatchObject({ code: 'not_found' });
    }
  });

  it('is allowed by CORS headers for scripts of every origin, also in preflight responses', async () => {
    const preflight = await server.app.inject({
      method: 'OPTIONS',
      url: `/iiif/image/${id}/info.json`,
      headers: { origin: 'https://viewer.example', 'access-control-request-headers': 'authorization' },
    });
    expect([preflight.statusCode, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'Authorization, Accept, If-None-Match',
    ]);
    for (const url of [`/iiif/image/${id}/info.json`, `/iiif/image/${missingId}/info.json`]) {
      expect((await get(url)).headers).toMatchObject({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
    }
  });
});
