/** Every endpoint, called with API tokens of each scope: docs/permissions.md section 4.4 and rules P8, P9 and P11. */
import fs from 'node:fs';
import path from 'node:path';
import {
  ApiTokenScope,
  apiBase,
  createImageSession,
  type Endpoint,
  endpoints,
  grantableScopes,
  suspendUser,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertGrant, setDownloadGrant } from '../store/dataset-grants.ts';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { expectedStatus, expectedStatuses, withLabels } from '../testing/permission-matrix.ts';
import { storedData } from '../testing/stored-data.ts';
import { type Answer, type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { type WellFormedRequest, wellFormedRequests } from '../testing/well-formed-requests.ts';

const unknownApiToken = `lam_${'A'.repeat(43)}`;

describe.each(databaseKinds)('permissions of API tokens (database: %s):', (database) => {
  let server: TestServer;
  let address: string;
  /** Ids of images whose slides exist: in an open dataset, and in a restricted one. */
  let open: string;
  let restricted: string;

  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
    address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    const { db, catalogue } = server.services;
    for (const name of ['Açık', 'Kısıtlı']) {
      const folder = path.join(server.config.slidesDir, name);
      fs.mkdirSync(folder);
      fs.writeFileSync(path.join(folder, 'a.svs'), await buildSvs());
    }
    // Not `start`, which watches the folder: a scan at any time would mark the images without files as missing.
    await catalogue.rescan();
    await catalogue.settled();
    const rows = await db.selectFrom('images').select(['id', 'dataset_name']).execute();
    const idIn = (name: string) => rows.find((row) => row.dataset_name === name)?.id ?? 'no slide was read';
    [open, restricted] = [idIn('Açık'), idIn('Kısıtlı')];
    const now = server.clock.now().toISOString();
    await saveDataset(db, { name: 'Kısıtlı', access: 'restricted', isListed: false, now });
  }, 60_000);
  afterAll(() => server.close());

  const { requestFor } = wellFormedRequests(() => server);

  const ask = (endpoint: Endpoint, { url, ...request }: WellFormedRequest, token: string): Promise<Answer> =>
    server.as(token).inject({ method: endpoint.method, url, ...request });

  const outcomeOf = ({ status, body }: Answer) =>
    status < 400 ? String(status) : `${status} ${(body as { code: string }).code}`;

  async function ownerOf(role: TestUser['role']) {
    const user = await server.fixtures.user({ role });
    return { user, token: await server.fixtures.token(user) };
  }

  async function settled(): Promise<void> {
    const { background, uploads, catalogue } = server.services;
    await background.idle();
    await uploads.settled();
    await catalogue.settled();
  }

  const protectedEndpoints = Object.keys(expectedStatuses).filter(
    (name) => endpoints[name]?.access !== 'anyone',
  );

  describe.each(withLabels(protectedEndpoints))('%s', (_, name) => {
    const endpoint = endpoints[name] as Endpoint;
    const scope = endpoint.apiTokenScope;

    const acceptance =
      scope === undefined
        ? 'returns 403 to API tokens, whatever their scopes, and changes no stored data'
        : `accepts an API token with only the scope ${scope}, and returns 403 to tokens without this scope`;
    it(`${acceptance}`, async () => {
      const owner = await ownerOf('admin');
      const request = await requestFor(name, owner, false);
      const others = ApiTokenScope.options.filter((each) => each !== scope);
      const revoked = await server.fixtures.apiToken(owner.user);
      await server.services.db.deleteFrom('api_tokens').where('id', '=', revoked.id).execute();
      const tokens: [string, string, string][] = [
        ['revoked', revoked.token, '401 token_invalid'],
        ['unknown', unknownApiToken, '401 token_invalid'],
        ['too short', 'lam_x', '401 token_invalid'],
        [
          'without the scope',
          (await server.fixtures.apiToken(owner.user, { scopes: others })).token,
          '403 forbidden',
        ],
      ];
      for (const other of others) {
        const { token } = await server.fixtures.apiToken(owner.user, { scopes: [other] });
        tokens.push([other, token, '403 forbidden']);
      }
      await settled();
      const before = await storedData(server.services.db);
      const outcomes: unknown[] = [];
      for (const [what, token] of tokens)
        outcomes.push([what, outcomeOf(await ask(endpoint, request, token))]);
      expect(outcomes).toEqual(tokens.map(([what, , expected]) => [what, expected]));
      await settled();
      expect(await storedData(server.services.db)).toEqual(before);

      if (scope === undefined) return;
      const { token } = await server.fixtures.apiToken(owner.user, { scopes: [scope] });
      expect(outcomeOf(await ask(endpoint, request, token))).toBe(String(expectedStatus(name, 'admin')));
    });

    const rows = (['user', 'viewer'] as const).map((role) => {
      const scopes = grantableScopes({ status: 'active', role });
      const isGiven = scope !== undefined && scopes.includes(scope);
      const status = isGiven ? expectedStatus(name, role) : 403;
      return [status < 400 ? String(status) : '403 forbidden', role] as const;
    });
    it.each(rows)(
      'returns %s to an API token with all scopes whose owner has the role %s',
      async (outcome, role) => {
        const owner = await ownerOf(role);
        const { token } = await server.fixtures.apiToken(owner.user);
        const answer = await ask(endpoint, await requestFor(name, owner, false), token);
        expect(outcomeOf(answer)).toBe(outcome);
      },
    );
  });

  const publicEndpoints = Object.keys(expectedStatuses).filter(
    (name) => endpoints[name]?.access === 'anyone',
  );
  it.each(withLabels(publicEndpoints))(
    '%s returns the same status with an API token as without any credential',
    async (_, name) => {
      const user = await server.fixtures.user();
      const request = await requestFor(name, { user, token: null }, true);
      const answer = await ask(
        endpoints[name] as Endpoint,
        request,
        (await server.fixtures.apiToken(user)).token,
      );
      expect(answer.status).toBe(expectedStatus(name, 'anonymous'));
    },
  );

  const aboutImages = Object.keys(expectedStatuses).filter(
    (name) => endpoints[name]?.apiTokenScope !== undefined && endpoints[name]?.path.includes(':imageId'),
  );
  it.each(withLabels(aboutImages))(
    '%s returns 404 for a slide outside the datasets of the API token',
    async (_, name) => {
      const endpoint = endpoints[name] as Endpoint;
      const owner = await ownerOf('admin');
      const outcomes: string[] = [];
      for (const dataset of ['Açık', 'Kısıtlı', null]) {
        const request = await requestFor(name, owner, false);
        const id = new RegExp(
          endpoint.path.replace(':imageId', '([^/]+)').replaceAll(/:\w+|\*/g, '[^/]+'),
        ).exec(request.url)?.[1];
        await server.services.db
          .updateTable('images')
          .set({ dataset_name: dataset })
          .where('id', '=', id ?? '')
          .execute();
        server.services.catalogue.evict([id ?? '']);
        const { token } = await server.fixtures.apiToken(owner.user, { datasets: ['Açık'] });
        await insertGrant(server.services.db, {
          uid: owner.user.uid,
          dataset: 'Açık',
          grantedBy: 'test',
          now: server.clock.now().toISOString(),
        });
        await setDownloadGrant(server.services.db, { uid: owner.user.uid, dataset: 'Açık', isAllowed: true });
        outcomes.push(outcomeOf(await ask(endpoint, request, token)));
      }
      expect(outcomes).toEqual([String(expectedStatus(name, 'admin')), '404 not_found', '404 not_found']);
    },
  );

  describe.each([
    ['the Fastify routes', false],
    ['the fast path (which bypasses Fastify)', true],
  ])('descriptor, thumbnail and tile requests with an API token through %s', (_, isNetwork) => {
    async function pixelsOf(url: string, token: string): Promise<string> {
      const headers = { authorization: `Bearer ${token}` };
      if (!isNetwork) {
        const answer = await server.app.inject({ url: apiBase + url, headers });
        return answer.statusCode < 400
          ? '200'
          : `${answer.statusCode} ${answer.json<{ code: string }>().code}`;
      }
      const answer = await fetch(address + apiBase + url, { headers });
      if (answer.status < 400) await answer.arrayBuffer();
      return answer.status < 400
        ? '200'
        : `${answer.status} ${((await answer.json()) as { code: string }).code}`;
    }

    const pixels = ['image.dzi', 'thumbnail.jpg', 'image_files/9/0_0.jpeg'];
    async function allPixels(imageId: string, token: string, query = ''): Promise<string> {
      const outcomes = new Set<string>();
      for (const name of pixels)
        outcomes.add(await pixelsOf(`/image-catalog/proxy/${imageId}/${name}${query}`, token));
      return [...outcomes].join(', ');
    }

    it('get 200 with the scope slides:read and 403 with any other scope', async () => {
      const owner = await server.fixtures.user({ role: 'viewer' });
      const outcomes: unknown[] = [];
      for (const scope of ApiTokenScope.options) {
        const { token } = await server.fixtures.apiToken(owner, { scopes: [scope] });
        outcomes.push([scope, await allPixels(open, token)]);
      }
      expect(outcomes).toEqual(
        ApiTokenScope.options.map((scope) => [scope, scope === 'slides:read' ? '200' : '403 forbidden']),
      );
      expect(await allPixels(open, unknownApiToken)).toBe('401 token_invalid');
      expect(await allPixels(open, await server.fixtures.token(owner))).toBe('401 session_missing');
    });

    it('write one image-opened audit event per slide and hour, and image-viewed when tiles follow a thumbnail', async () => {
      const { fixtures, services, clock } = server;
      const user = await fixtures.user();
      const { token } = await fixtures.apiToken(user, { scopes: ['slides:read'] });
      const events = async () =>
        (
          await services.db
            .selectFrom('audit')
            .select(['action', 'target', 'detail'])
            .where('actor_uid', '=', user.uid)
            .where('action', '!=', 'access-refused')
            .orderBy('seq')
            .execute()
        ).map(({ action, target, detail }) => [action, target, JSON.parse(detail)]);
      const thumbnail = `/image-catalog/proxy/${open}/thumbnail.jpg`;
      const tile = `/image-catalog/proxy/${open}/image_files/9/0_0.jpeg`;
      for (const url of [thumbnail, tile, thumbnail, tile]) expect(await pixelsOf(url, token)).toBe('200');
      const detail = { file_name: 'a.svs', token: token.slice(0, 12) };
      const first = [
        ['image-opened', open, { by: 'thumbnail', ...detail }],
        ['image-viewed', open, { by: 'tile', ...detail }],
      ];
      expect(await events()).toEqual(first);
      clock.advance(60 * 60_000);
      await Promise.all([tile, tile, tile].map((url) => pixelsOf(url, token)));
      expect(await events()).toEqual([...first, ['image-opened', open, { by: 'tile', ...detail }]]);
    });

    it('get 404 unless the owner may view the slide and the slide is in a dataset of the token', async () => {
      const { fixtures, services, clock } = server;
      const [stranger, granted, admin] = [
        await fixtures.user(),
        await fixtures.user(),
        await fixtures.admin(),
      ];
      await services.db
        .insertInto('dataset_grants')
        .values({ uid: granted.uid, dataset: 'Kısıtlı', granted_by: 'test', at: clock.now().toISOString() })
        .execute();
      const outcomes: unknown[] = [];
      for (const [who, owner] of Object.entries({ stranger, granted, admin })) {
        for (const datasets of [null, ['Açık'], ['Kısıtlı'], ['kisitli', 'AÇIK']]) {
          const { token } = await fixtures.apiToken(owner, { datasets });
          outcomes.push([who, datasets, await allPixels(open, token), await allPixels(restricted, token)]);
        }
      }
      const not = '404 not_found';
      const seesBoth = (who: string) => [
        [who, null, '200', '200'],
        [who, ['Açık'], '200', not],
        [who, ['Kısıtlı'], not, '200'],
        [who, ['kisitli', 'AÇIK'], '200', '200'],
      ];
      expect(outcomes).toEqual([
        ['stranger', null, '200', not],
        ['stranger', ['Açık'], '200', not],
        ['stranger', ['Kısıtlı'], not, not],
        ['stranger', ['kisitli', 'AÇIK'], '200', not],
        ...seesBoth('granted'),
        ...seesBoth('admin'),
      ]);
    });

    it('get 200 with an additional image session (credential for tiles) of the same account, and 401 with one of another account', async () => {
      const { fixtures, as } = server;
      const user = await fixtures.user();
      const session = (await as(user).call(createImageSession)).body.session_id;
      const own = (await fixtures.apiToken(user, { scopes: ['annotations:read'] })).token;
      const foreign = (await fixtures.apiToken(await fixtures.user())).token;
      expect(await allPixels(open, own, `?session=${session}`)).toBe('200');
      expect(await allPixels(open, foreign, `?session=${session}`)).toBe('401 session_invalid');
      expect(await allPixels(open, unknownApiToken, `?session=${session}`)).toBe('401 token_invalid');
      expect(await allPixels(open, own, `?session=${'A'.repeat(43)}`)).toBe('401 session_invalid');
    });

    it('get 401 as soon as the owner is suspended, and still after the owner is reactivated', async () => {
      const { fixtures, as } = server;
      const [user, admin] = [await fixtures.user(), await fixtures.admin()];
      const { token } = await fixtures.apiToken(user);
      expect(await allPixels(open, token)).toBe('200');
      await as(admin).call(suspendUser, { params: { uid: user.uid } });
      expect(await allPixels(open, token)).toBe('401 token_invalid');
      await as(admin).inject({ method: 'POST', url: `/admin/users/${user.uid}/approve`, payload: {} });
      expect(await allPixels(open, token)).toBe('401 token_invalid');
    });
  });
});
