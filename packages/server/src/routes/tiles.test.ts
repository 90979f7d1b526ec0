/** Tests requests for pixels through HTTP. The file is long because all tests share one server for each adapter. */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  apiBase,
  approveUser,
  deactivateUser,
  deleteAccount,
  deleteImage,
  deleteImageSession,
  getActivity,
  signOut,
  suspendUser,
  updateImage,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';
import type { TestUser } from '../testing/test-server.ts';

/** 480 × 400 pixels in tiles of 128; native levels at downsample 1 and 4 are the Deep Zoom levels 9 and 7 of 0…9. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const maxLevel = 9;

/** Returns width and height from the frame header of a JPEG (ITU-T T.81 section B.2.2). */
function sizeOfJpeg(jpeg: Uint8Array): { width: number; height: number } {
  const view = new DataView(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  for (let at = 2; at < jpeg.length; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
  }
  throw new Error('no frame header');
}

/** Returns the entropy-coded part of a JPEG, between the scan header and EOI. */
function scanOf(jpeg: Buffer): Buffer {
  const sos = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  return jpeg.subarray(sos + 2 + jpeg.readUInt16BE(sos + 2), -2);
}

describe.each(tileAdapters)('images via $tileAdapter (the fast path skips Fastify)', ({ tileFastPath }) => {
  let server: SlideServer;
  let svs: Uint8Array;
  let id: string;
  let user: TestUser;
  let session: string;

  beforeAll(async () => {
    server = await slideServer({ isShared: true, config: { tileFastPath } });
    svs = await buildSvs(slideOptions);
    await server.put('Tissue/good.svs', svs);
    await server.put('Tissue/broken.svs', svs.subarray(0, 3000));
    await server.put('Tissue/empty.svs', '');
    await server.rescan();
    id = await server.idOf('good.svs');
    user = await server.fixtures.user();
  });
  beforeEach(async () => {
    server.clock.advance(4000); // an account may open 30 sessions a minute; some tests open more of them
    session = await server.sessionOf(user);
  });
  afterAll(() => server.close());

  const tile = (z: number | string, name: string) => `${id}/image_files/${z}/${name}`;

  describe('GET descriptor', () => {
    it('returns tile size, overlap, format and image size', async () => {
      const response = await server.pixels(`${id}/image.dzi`, session);
      expect(response.statusCode).toBe(200);
      expect(response.headers['content-type']).toBe('application/xml; charset=utf-8');
      expect(response.body).toContain('TileSize="128" Overlap="0" Format="jpg"');
      expect(response.body).toContain('<Size Width="480" Height="400"/>');
    });

    it('adds one opening of the image for each image session (credential for tiles) to the activity list of the account', async () => {
      const reader = await server.fixtures.user();
      const client = server.as(reader);
      const token = await server.fixtures.token(reader);
      const [first, second] = [await server.sessionOf(token), await server.sessionOf(token)];
      for (const sessionId of [first, first, second, first])
        await server.pixels(`${id}/image.dzi`, sessionId);
      await server.pixels(`${id}/thumbnail.jpg`, first);
      const { activity } = (await client.call(getActivity)).body;
      const opened = activity.filter(({ action }) => action === 'image-opened');
      expect(opened).toHaveLength(2);
      expect(opened[0]).toMatchObject({ subject: 'good.svs', imageId: id });
    });
  });

  describe('GET tile', () => {
    it('returns the JPEG bytes of a native tile (stored in the file) unchanged', async () => {
      for (const name of ['0_0.jpg', '1_1.jpg', '2_2.jpg']) {
        const response = await server.pixels(tile(maxLevel, name), session);
        expect(response.statusCode).toBe(200);
        expect(response.headers['content-type']).toBe('image/jpeg');
        expect(Buffer.from(svs).includes(scanOf(response.rawPayload))).toBe(true);
      }
    });

    it('returns tiles with the width and height that follow from the descriptor, on every level and at the edges', async () => {
      for (let z = 0; z <= maxLevel; z++) {
        const scale = 2 ** (maxLevel - z);
        const [width, height] = [
          Math.ceil(slideOptions.width / scale),
          Math.ceil(slideOptions.height / scale),
        ];
        for (let x = 0; x * 128 < width; x++) {
          for (let y = 0; y * 128 < height; y++) {
            const response = await server.pixels(tile(z, `${x}_${y}.jpg`), session);
            expect(response.statusCode, `${z}/${x}_${y}`).toBe(200);
            expect(sizeOfJpeg(response.rawPayload), `${z}/${x}_${y}`).toEqual({
              width: Math.min(128, width - x * 128),
              height: Math.min(128, height - y * 128),
            });
          }
        }
      }
    });

    it('returns equal bytes for the file name endings jpg and jpeg', async () => {
      const [jpg, jpeg] = [
        await server.pixels(tile(8, '0_0.jpg'), session),
        await server.pixels(tile(8, '0_0.jpeg'), session),
      ];
      expect(jpeg.rawPayload).toEqual(jpg.rawPayload);
    });

    it('returns equal bytes to 40 concurrent requests for one tile', async () => {
      const responses = await Promise.all(
        Array.from({ length: 40 }, () => server.pixels(tile(6, '0_0.jpg'), session)),
      );
      expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
      const hashes = responses.map(({ rawPayload }) => createHash('sha256').update(rawPayload).digest('hex'));
      expect(new Set(hashes).size).toBe(1);
    });

    it.each([
      ['the level 10, above the highest level 9', () => tile(10, '0_0.jpg')],
      ['the column 4 of a level of four columns (0 to 3)', () => tile(9, '4_0.jpg')],
      ['the row 4 of a level of four rows (0 to 3)', () => tile(9, '0_4.jpg')],
      ['the column 999999999', () => tile(9, '999999999_0.jpg')],
      ['the level -1', () => tile(-1, '0_0.jpg')],
      ['the file name ending png', () => tile(9, '0_0.png')],
      ['no file name ending', () => tile(9, '0_0')],
      ['the level 09, with a leading zero', () => tile('09', '0_0.jpg')],
      ['the column 0.5', () => tile(9, '0.5_0.jpg')],
      ['the column 1e0', () => tile(9, '1e0_0.jpg')],
      ['the hexadecimal column 0x1', () => tile(9, '0x1_0.jpg')],
      ['the file name ending JPG', () => tile(9, '0_0.JPG')],
      ['an encoded space after the file name', () => tile(9, '0_0.jpg%20')],
      ['a null byte after the file name', () => tile(9, '0_0.jpg%00')],
      ['the encoded path ../../etc/passwd as file name', () => tile(9, '..%2f..%2fetc%2fpasswd')],
      ['the encoded path ../.. as level', () => tile('..%2f..', '0_0.jpg')],
      ['an encoded backslash in the file name', () => tile(9, '..%5c0_0.jpg')],
      ['a twice encoded path as file name', () => tile(9, '%252e%252e%252f0_0.jpg')],
      ['an Arabic digit as column', () => tile(9, '%D9%A1_0.jpg')],
      ['an encoded file path in place of the image id', () => '..%2f..%2fgood.svs/image.dzi'],
      ['the file name good.svs in place of the image id', () => 'good.svs/image.dzi'],
      ['an image id in capital letters', () => `${id.toUpperCase()}/image.dzi`],
      ['a null byte after the image id', () => `${id}%00/image.dzi`],
      ['an unknown image id', () => '00000000-0000-4000-8000-000000000000/image.dzi'],
      ['the descriptor name image.dzi.bak', () => `${id}/image.dzi.bak`],
      ['the thumbnail name thumbnail.png', () => `${id}/thumbnail.png`],
      ['the name label.jpg in place of thumbnail.jpg', () => `${id}/label.jpg`],
      ['the name macro.jpg in place of thumbnail.jpg', () => `${id}/macro.jpg`],
    ])('returns 404 for a URL with %s', async (_, address) => {
      const response = await server.pixels(address(), session);
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ code: 'not_found', message: expect.any(String) });
      expect(response.headers['cache-control']).toBe('no-store');
    });
  });

  describe('GET thumbnail', () => {
    it('returns the whole slide with at most 256 pixels per side', async () => {
      const response = await server.pixels(`${id}/thumbnail.jpg`, session);
      expect(response.statusCode).toBe(200);
      expect(response.headers['content-type']).toBe('image/jpeg');
      expect(sizeOfJpeg(response.rawPayload)).toEqual({ width: 256, height: 213 });
    });

    it('contains no pixels of the label, macro and thumbnail images that the file stores', async () => {
      await server.put('Tissue/bare.svs', await buildSvs({ ...slideOptions, hasAssociatedImages: false }));
      await server.rescan();
      const bare = await server.pixels(`${await server.idOf('bare.svs')}/thumbnail.jpg`, session);
      const full = await server.pixels(`${id}/thumbnail.jpg`, session);
      expect(full.rawPayload).toEqual(bare.rawPayload);
    });
  });

  describe('a descriptor, thumbnail or tile response', () => {
    const addresses = () => [
      `${id}/image.dzi`,
      `${id}/thumbnail.jpg`,
      tile(9, '0_0.jpg'),
      tile(8, '0_0.jpg'),
    ];

    it('may be cached only by the browser, until the image session (credential for tiles) ends', async () => {
      const short = await server.sessionOf(user);
      for (const address of addresses()) {
        const response = await server.pixels(address, short);
        expect(response.headers['cache-control']).toBe('private, max-age=3600');
      }
      server.clock.advance(1_000_000);
      const later = await server.pixels(`${id}/image.dzi`, short);
      expect(later.headers['cache-control']).toBe('private, max-age=2600');
    });

    it('has status 304 and no body when If-None-Match equals the ETag', async () => {
      for (const address of addresses()) {
        const { headers } = await server.pixels(address, session);
        const revalidated = await server.pixels(address, session, {
          headers: { 'if-none-match': `${headers.etag}` },
        });
        expect(revalidated.statusCode).toBe(304);
        expect(revalidated.rawPayload.length).toBe(0);
        expect(revalidated.headers.etag).toBe(headers.etag);
      }
    });

    it('has an ETag that no other resource of the slide has', async () => {
      const tags = await Promise.all(
        addresses().map(async (address) => (await server.pixels(address, session)).headers.etag),
      );
      expect(new Set(tags).size).toBe(addresses().length);
      for (const tag of tags) expect(tag).toMatch(/^"[\w-]+"$/);
    });

    it('has the same headers for HEAD as for GET, and no body', async () => {
      for (const address of addresses()) {
        const [got, head] = [
          await server.pixels(address, session),
          await server.pixels(address, session, { method: 'HEAD' }),
        ];
        expect(head.statusCode).toBe(200);
        expect(head.rawPayload.length).toBe(0);
        expect(head.headers.etag).toBe(got.headers.etag);
        expect(head.headers['content-length']).toBe(String(got.rawPayload.length));
      }
    });

    it.each([
      ['a valid image session', () => session],
      ['no image session', () => null],
    ])(
      'has headers that forbid framing and use by other origins when it is requested with %s',
      async (_, given) => {
        for (const address of addresses()) {
          const { headers } = await server.pixels(address, given());
          expect(headers['x-content-type-options']).toBe('nosniff');
          expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
          expect(headers['cross-origin-resource-policy']).toBe('same-origin');
          expect(headers['access-control-allow-origin']).toBeUndefined();
        }
      },
    );
  });

  describe('the image session (credential for tiles) in the query of a descriptor, thumbnail or tile request', () => {
    /** A rule of docs/permissions.md. `given` creates an image session, and the bearer token that the request sends with it. */
    type Row = readonly [
      name: string,
      given: () => Promise<{ session: string | null; token?: string }>,
      status: number,
      code: string | null,
    ];
    /** Creates a viewer with a bearer token and an image session. */
    const createViewer = async () => {
      const person = await server.fixtures.user({ role: 'viewer' });
      const token = await server.fixtures.token(person);
      return { person, token, session: await server.sessionOf(token) };
    };
    const administrator = () => server.fixtures.admin();
    const rows: readonly Row[] = [
      ['valid, without a bearer token', async () => ({ session: (await createViewer()).session }), 200, null],
      ['valid, with a bearer token of its account', createViewer, 200, null],
      [
        'valid, with another bearer token of its account',
        async () => {
          const { person, session } = await createViewer();
          return { session, token: await server.fixtures.token(person) };
        },
        200,
        null,
      ],
      [
        'valid, with a bearer token of another account',
        async () => ({ session: (await createViewer()).session, token: (await createViewer()).token }),
        401,
        'session_invalid',
      ],
      [
        'valid, with a bearer token of an administrator',
        async () => ({
          session: (await createViewer()).session,
          token: await server.fixtures.token(await administrator()),
        }),
        401,
        'session_invalid',
      ],
      [
        'valid, with an invalid bearer token',
        async () => ({ session: (await createViewer()).session, token: 'bad' }),
        401,
        'token_invalid',
      ],
      ['missing', async () => ({ session: null }), 401, 'session_missing'],
      ['empty', async () => ({ session: '' }), 401, 'session_missing'],
      [
        'missing, with a valid bearer token',
        async () => ({ session: null, token: (await createViewer()).token }),
        401,
        'session_missing',
      ],
      [
        'missing, with a bearer token of an administrator',
        async () => ({ session: null, token: await server.fixtures.token(await administrator()) }),
        401,
        'session_missing',
      ],
      ['unknown', async () => ({ session: 'A'.repeat(43) }), 401, 'session_invalid'],
      [
        'unknown, with a valid bearer token',
        async () => ({ session: 'A'.repeat(43), token: (await createViewer()).token }),
        401,
        'session_invalid',
      ],
      [
        'changed in its first character',
        async () => {
          const { session } = await createViewer();
          return { session: (session.startsWith('A') ? 'B' : 'A') + session.slice(1) };
        },
        401,
        'session_invalid',
      ],
      [
        'the bearer token of a sign-in',
        async () => ({ session: (await createViewer()).token }),
        401,
        'session_invalid',
      ],
      [
        'expired',
        async () => {
          const { session } = await createViewer();
          server.clock.advance(3_600_000);
          return { session };
        },
        401,
        'session_invalid',
      ],
      [
        'revoked',
        async () => {
          const { session, token } = await createViewer();
          await server.pixels(`${id}/image.dzi`, session);
          await server.as(token).call(deleteImageSession, { params: { sessionId: session } });
          return { session, token };
        },
        401,
        'session_invalid',
      ],
      [
        'of a sign-in that has ended',
        async () => {
          const { session, token } = await createViewer();
          await server.pixels(`${id}/image.dzi`, session);
          await server.as(token).call(signOut);
          return { session };
        },
        401,
        'session_invalid',
      ],
      ...(
        [
          ['suspended', suspendUser],
          ['deactivated', deactivateUser],
        ] as const
      ).map(
        ([what, call]): Row => [
          `of an account that was ${what}`,
          async () => {
            const { session, person } = await createViewer();
            await server.pixels(`${id}/image.dzi`, session);
            await server.as(await administrator()).call(call, { params: { uid: person.uid } });
            return { session };
          },
          401,
          'session_invalid',
        ],
      ),
      [
        'of an account suspended and reactivated',
        async () => {
          const { session, person } = await createViewer();
          const client = server.as(await administrator());
          await client.call(suspendUser, { params: { uid: person.uid } });
          await client.call(approveUser, { params: { uid: person.uid }, body: {} });
          return { session };
        },
        401,
        'session_invalid',
      ],
      [
        'of an account that was deleted',
        async () => {
          const { session, token } = await createViewer();
          await server.pixels(`${id}/image.dzi`, session);
          await server.as(token).call(deleteAccount, { body: {} });
          return { session };
        },
        401,
        'session_invalid',
      ],
    ];

    const cases = rows.map(([name, given, status, code]) => {
      const outcome = code === null ? 'accepted' : `rejected with ${status} ${code}`;
      return [outcome, name, { given, status, code }] as const;
    });
    it.each(cases)('is %s when it is %s', async (_, __, { given, status, code }) => {
      const { session, token } = await given();
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      for (const address of [`${id}/image.dzi`, `${id}/thumbnail.jpg`, tile(9, '0_0.jpg')]) {
        const response = await server.pixels(address, session, { headers });
        expect(response.statusCode, address).toBe(status);
        if (code === null) continue;
        expect(response.json()).toMatchObject({ code });
        const scheme = code.startsWith('token') ? 'Bearer' : 'ImageSession';
        expect(response.headers['www-authenticate']).toMatch(new RegExp(`^${scheme} `));
        expect(response.headers['cache-control']).toBe('no-store');
      }
    });

    it('is rejected with 400 when it is sent twice', async () => {
      const { session } = await createViewer();
      const response = await server.app.inject(
        `${apiBase}/image-catalog/proxy/${id}/image.dzi?session=${session}&session=${session}`,
      );
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ code: 'invalid_request' });
    });

    it('is rejected with the same response for an existing and a missing slide when it is unknown', async () => {
      const body = async (imageId: string) => {
        const { requestId: _, ...rest } = (await server.pixels(`${imageId}/image.dzi`, 'A'.repeat(43))).json<{
          requestId: string;
        }>();
        return rest;
      };
      expect(await body(id)).toEqual(await body('00000000-0000-4000-8000-000000000000'));
    });
  });

  describe('GET /image-catalog/images and GET /image-catalog/images/:imageId', () => {
    it('return 401 token_missing for a request with an image session (credential for tiles) but no bearer token', async () => {
      for (const address of ['images', `images/${id}`]) {
        const response = await server.app.inject(`${apiBase}/image-catalog/${address}?session=${session}`);
        expect(response.statusCode).toBe(401);
        expect(response.json()).toMatchObject({ code: 'token_missing' });
      }
    });
  });

  describe('with IMAGE_SESSION_COOKIE=strict, an image session (credential for tiles)', () => {
    it('is accepted only with the cookie that the server set when it created the session', async () => {
      const strict = await slideServer({ config: { imageSessionCookie: 'strict', tileFastPath } });
      await strict.put('Tissue/good.svs', svs);
      await strict.rescan();
      const imageId = await strict.idOf('good.svs');
      const token = await strict.fixtures.token(await strict.fixtures.user());
      const create = () =>
        strict.app.inject({
          method: 'POST',
          url: `${apiBase}/auth/image-session`,
          headers: { authorization: `Bearer ${token}` },
        });
      const [mine, other] = [await create(), await create()];
      const sessionId = mine.json<{ session_id: string }>().session_id;
      const [cookie] = mine.cookies;
      expect(cookie).toMatchObject({
        value: sessionId,
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
        path: '/', // pixels of slides, of result layers and of IIIF have no other path in common
        maxAge: 3600,
      });
      const requestWith = (cookies: Record<string, string>) =>
        strict.pixels(`${imageId}/image.dzi`, sessionId, { cookies });
      expect((await requestWith({ [cookie?.name ?? '']: sessionId })).statusCode).toBe(200);
      const ofBothTabs = { [cookie?.name ?? '']: sessionId, [other.cookies[0]?.name ?? '']: 'other' };
      expect((await requestWith(ofBothTabs)).statusCode).toBe(200);
      for (const wrongCookies of [
        {},
        { [cookie?.name ?? '']: other.cookies[0]?.value ?? '' },
        { session: sessionId },
        { image_session: sessionId },
      ]) {
        const response = await requestWith(wrongCookies);
        expect(response.statusCode).toBe(401);
        expect(response.json()).toMatchObject({ code: 'session_invalid' });
      }
    });
  });

  describe('with IMAGE_SESSION_COOKIE=strict, the response that creates an image session (credential for tiles)', () => {
    it('deletes all but the ten newest cookies of image sessions, because request headers that are too large are rejected', async () => {
      const strict = await slideServer({ config: { imageSessionCookie: 'strict', tileFastPath } });
      const token = await strict.fixtures.token(await strict.fixtures.user());
      const earlier = Array.from({ length: 11 }, (_, n) => `image_session_aaaaaa${10 + n}=x`);
      const created = await strict.app.inject({
        method: 'POST',
        url: `${apiBase}/auth/image-session`,
        headers: { authorization: `Bearer ${token}`, cookie: ['other=1', ...earlier].join('; ') },
      });
      expect(created.cookies.map(({ name, maxAge }) => [name.slice(0, 22), maxAge])).toEqual([
        [`image_session_${created.json<{ session_id: string }>().session_id.slice(0, 8)}`, 3600],
        ['image_session_aaaaaa10', 0],
        ['image_session_aaaaaa11', 0],
      ]);
    });
  });

  describe('GET descriptor, thumbnail and tiles of an image', () => {
    it('return new pixels with new ETags after the file of the image was replaced', async () => {
      await server.put('Change/replaced.svs', svs);
      await server.rescan();
      const imageId = await server.idOf('replaced.svs');
      const oldTile = await server.pixels(`${imageId}/image_files/9/0_0.jpg`, session);
      await server.put('Change/replaced.svs', await buildSvs({ ...slideOptions, width: 300, height: 200 }));
      await server.rescan();
      const descriptor = await server.pixels(`${imageId}/image.dzi`, session);
      expect(descriptor.body).toContain('<Size Width="300" Height="200"/>');
      const newTile = await server.pixels(`${imageId}/image_files/9/0_0.jpg`, session, {
        headers: { 'if-none-match': `${oldTile.headers.etag}` },
      });
      expect(newTile.statusCode).toBe(200);
      expect(newTile.headers.etag).not.toBe(oldTile.headers.etag);
    });

    it('return 404 while the file of the image is missing', async () => {
      await server.put('Change/moved.svs', svs);
      await server.rescan();
      const imageId = await server.idOf('moved.svs');
      const place = path.join(server.config.slidesDir, 'Change/moved.svs');
      expect((await server.pixels(`${imageId}/image.dzi`, session)).statusCode).toBe(200);
      await fs.rename(place, `${place}.away`);
      await server.rescan();
      expect((await server.pixels(`${imageId}/image.dzi`, session)).statusCode).toBe(404);
      await fs.rename(`${place}.away`, place);
      await server.rescan();
      expect((await server.pixels(`${imageId}/image.dzi`, session)).statusCode).toBe(200);
    });

    it('return 404 when the file was replaced by a symbolic link to a file outside the slide folder', async () => {
      await server.put('Change/linked.svs', svs);
      await server.rescan();
      const imageId = await server.idOf('linked.svs');
      const place = path.join(server.config.slidesDir, 'Change/linked.svs');
      const outside = path.join(server.config.dataDir, 'outside.svs');
      await fs.rename(place, outside);
      await fs.symlink(outside, place);
      // No rescan has seen the link yet: the path is resolved whenever the slide is opened.
      expect((await server.pixels(`${imageId}/image_files/8/0_0.jpg`, session)).statusCode).toBe(404);
      await server.rescan();
      expect((await server.pixels(`${imageId}/image.dzi`, session)).statusCode).toBe(404);
    });

    it('return 404 from the moment an administrator removes the image until the image is restored', async () => {
      await server.put('Change/removed.svs', svs);
      await server.rescan();
      const imageId = await server.idOf('removed.svs');
      const client = server.as(await server.fixtures.admin());
      const status = async () =>
        (await server.pixels(`${imageId}/image_files/9/0_0.jpg`, session)).statusCode;
      expect(await status()).toBe(200);
      await client.call(deleteImage, { params: { imageId } });
      expect(await status()).toBe(404);
      await client.call(updateImage, { params: { imageId }, body: { removed: false } });
      expect(await status()).toBe(200);
    });

    it('return 404 for an image whose file is malformed, and 200 for an image whose file is intact', async () => {
      for (const name of ['broken.svs', 'empty.svs']) {
        const response = await server.pixels(`${await server.idOf(name)}/image.dzi`, session);
        expect(response.statusCode).toBe(404);
      }
      expect((await server.pixels(`${id}/image.dzi`, session)).statusCode).toBe(200);
    });
  });

  describe('a client that disconnects while its tile is rendered', () => {
    it('causes no error line in the log', async () => {
      const address = await server.app.listen({ port: 0, host: '127.0.0.1' });
      await server.put('Leave/large.svs', await buildSvs({ ...slideOptions, width: 2000, height: 1600 }));
      await server.rescan();
      const imageId = await server.idOf('large.svs');
      const disconnecting = new AbortController();
      const arrived = Promise.withResolvers<void>();
      let arrivals = 0;
      server.app.server.on('request', () => {
        arrivals++;
        if (arrivals === 4) arrived.resolve();
      });
      const requests = [0, 1, 2, 3].map((x) =>
        fetch(
          `${address}${apiBase}/image-catalog/proxy/${imageId}/image_files/10/${x}_0.jpg?session=${session}`,
          {
            signal: disconnecting.signal,
          },
        ).then((response) => response.arrayBuffer()),
      );
      await arrived.promise;
      disconnecting.abort();
      for (const request of requests) await expect(request).rejects.toMatchObject({ name: 'AbortError' });
      const response = await server.pixels(`${imageId}/image_files/10/0_0.jpg`, session);
      expect(response.statusCode).toBe(200);
      expect(server.logged()).not.toContain('"level":50');
    });
  });
});
