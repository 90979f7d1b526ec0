/** API tokens through HTTP: creation, list, revocation, expiry, access to the catalogue, rate limit, and audit events. */
import {
  beginUpload,
  changePassword,
  createAnnotationLayer,
  createApiToken,
  deleteApiToken,
  endSignIns,
  getImage,
  listAllApiTokens,
  listApiTokens,
  listImageGroups,
  listImages,
  promoteUser,
  revokeApiToken,
  setUserPassword,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { apiTokenRate, createApiTokenLimit } from '../domain/api-token-limit.ts';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;

/** Returns action, target and detail of all audit events about API tokens. */
async function auditOf({ services }: TestServer): Promise<[string, string | null, unknown][]> {
  const rows = await services.db
    .selectFrom('audit')
    .selectAll()
    .where('action', 'like', 'api-token-%')
    .orderBy('seq')
    .execute();
  return rows.map(({ action, target, detail }) => [action, target, JSON.parse(detail)]);
}

describe.each(databaseKinds)('API tokens (database: %s)', (database) => {
  it('are returned only by the request that creates them, stored as a hash, and listed for their owner without the secret', async () => {
    const server = await testServer({ database });
    const { fixtures, as, clock, services } = server;
    const user = await fixtures.user();
    const body = { name: ' Betik ', scopes: ['annotations:read', 'slides:read', 'slides:read'] };
    const created = await as(user).call(createApiToken, { body });
    expect(created.status).toBe(201);
    const { token, id, prefix } = created.body;
    expect(token).toMatch(/^lam_[\w-]{43}$/);
    expect(created.body).toEqual({
      id,
      token,
      prefix: token.slice(0, 12),
      name: 'Betik',
      scopes: ['slides:read', 'annotations:read'],
      datasets: null,
      expires_at: new Date(clock.now().getTime() + 90 * day).toISOString(),
    });

    expect((await as(token).call(listImages)).status).toBe(200);
    const { token: _, ...rest } = created.body;
    const at = clock.now().toISOString();
    const listed = { ...rest, created_at: at, last_used_at: at };
    expect((await as(user).call(listApiTokens)).body).toEqual({ tokens: [listed] });
    expect((await as(await fixtures.user()).call(listApiTokens)).body).toEqual({ tokens: [] });
    const { uid, email, displayName } = user;
    expect((await as(await fixtures.admin()).call(listAllApiTokens)).body).toEqual({
      tokens: [{ ...listed, uid, email, displayName }],
    });
    const rows = JSON.stringify(await services.db.selectFrom('api_tokens').selectAll().execute());
    expect(rows + server.logged() + JSON.stringify(await auditOf(server))).not.toContain(token.slice(12));
    expect(prefix).toBe(token.slice(0, 12));
  });

  it('cannot be created with invalid values (400), a dataset hidden from the owner (404) or a scope above the role of the owner (403)', async () => {
    const { fixtures, as, services, clock } = await testServer({ database });
    const now = clock.now().toISOString();
    await saveDataset(services.db, { name: 'Gizli', access: 'restricted', isListed: true, now });
    await fixtures.image({ dataset_name: 'Akciğer' });
    const [user, viewer, admin] = [
      await fixtures.user(),
      await fixtures.user({ role: 'viewer' }),
      await fixtures.admin(),
    ];
    const validBody = { name: 'x', scopes: ['slides:read'] };
    const create = async (who: typeof user, change: object) => {
      const { status, body } = await as(who).call(createApiToken, { body: { ...validBody, ...change } });
      return status === 201 ? '201' : `${status} ${(body as unknown as { code: string }).code}`;
    };
    for (const change of [
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 'a\u0000b' },
      { scopes: [] },
      { scopes: ['admin'] },
      { scopes: 'slides:read' },
      { expires_in_days: 0 },
      { expires_in_days: 366 },
      { expires_in_days: 1.5 },
      { datasets: [] },
      { datasets: [''] },
      { datasets: 'Akciğer' },
    ]) {
      expect([change, await create(user, change)]).toEqual([change, '400 invalid_request']);
    }
    expect(await create(user, { datasets: ['Akciğer'], expires_in_days: 365 })).toBe('201');
    expect(await create(user, { datasets: ['Gizli'] })).toBe('404 not_found');
    expect(await create(user, { datasets: ['Yok'] })).toBe('404 not_found');
    expect(await create(admin, { datasets: ['Gizli'] })).toBe('201');
    expect(await create(viewer, { scopes: ['slides:read', 'annotations:read'] })).toBe('201');
    for (const scope of ['annotations:write', 'results:write', 'slides:download', 'slides:upload']) {
      expect([scope, await create(viewer, { scopes: [scope] })]).toEqual([scope, '403 forbidden']);
      const isAdminOnly = scope === 'slides:upload';
      expect([scope, await create(user, { scopes: [scope] })]).toEqual([
        scope,
        isAdminOnly ? '403 forbidden' : '201',
      ]);
      expect([scope, await create(admin, { scopes: [scope] })]).toEqual([scope, '201']);
    }
    const { body } = await as(user).call(listApiTokens);
    expect(body.tokens.some(({ datasets }) => datasets?.[0] === 'Akciğer')).toBe(true);
  });

  it('can be revoked by their owner and by administrators, and then get 401 at once from every server process', async () => {
    const server = await testServer({ database });
    const { fixtures, as } = server;
    const [user, other, admin] = [await fixtures.user(), await fixtures.user(), await fixtures.admin()];
    const [firstToken, secondToken] = [await fixtures.apiToken(user), await fixtures.apiToken(user)];
    const otherProcess = await server.another();
    expect((await otherProcess.as(firstToken.token).call(listImages)).status).toBe(200);

    expect((await as(other).call(deleteApiToken, { params: { tokenId: firstToken.id } })).status).toBe(404);
    expect((await as(user).call(deleteApiToken, { params: { tokenId: firstToken.id } })).status).toBe(204);
    expect((await as(user).call(deleteApiToken, { params: { tokenId: firstToken.id } })).status).toBe(404);
    expect((await as(admin).call(revokeApiToken, { params: { tokenId: secondToken.id } })).status).toBe(204);
    for (const { token } of [firstToken, secondToken]) {
      for (const process of [server, otherProcess]) {
        expect(await process.as(token).call(listImages)).toMatchObject({
          status: 401,
          body: { code: 'token_invalid' },
        });
      }
    }
    expect((await auditOf(server)).filter(([action]) => action === 'api-token-revoked')).toHaveLength(2);
  });

  it('end at their end date, and when the password or the role of their owner changes', async () => {
    const server = await testServer({ database });
    const { fixtures, as, clock } = server;
    const admin = await fixtures.admin();
    const statusOf = async (token: string) => (await as(token).call(listImages)).status;

    const user = await fixtures.user();
    const signedIn = await fixtures.token(user);
    const { token } = await fixtures.apiToken(user);
    expect((await as(signedIn).call(endSignIns, { query: { except: 'current' } })).status).toBe(204);
    expect(await statusOf(token)).toBe(200);
    const body = { current_password: user.password, new_password: 'yepyeni-şifre' };
    expect((await as(signedIn).call(changePassword, { body })).status).toBe(200);
    expect(await statusOf(token)).toBe(401);

    for (const [endpoint, change] of [
      [setUserPassword, { new_password: 'yepyeni-şifre' }],
      [promoteUser, undefined],
    ] as const) {
      const member = await fixtures.user();
      const created = await fixtures.apiToken(member);
      expect(await statusOf(created.token)).toBe(200);
      const params = { uid: member.uid };
      await as(admin).call(endpoint, { params, ...(change && { body: change }) });
      expect(await statusOf(created.token)).toBe(401);
    }

    const expiringToken = await fixtures.apiToken(await fixtures.user(), { days: 1 });
    const tokenOfExpiringAccount = await fixtures.apiToken(
      await fixtures.user({ expiresAt: new Date(clock.now().getTime() + 2 * day).toISOString() }),
    );
    clock.advance(day - 1);
    expect(await statusOf(expiringToken.token)).toBe(200);
    clock.advance(1);
    expect(await statusOf(expiringToken.token)).toBe(401);
    expect(await statusOf(tokenOfExpiringAccount.token)).toBe(200);
    clock.advance(day);
    expect(await statusOf(tokenOfExpiringAccount.token)).toBe(401);
  });

  it('that are limited to a dataset get lists with only the slides of this dataset, and 404 for any other slide', async () => {
    const { fixtures, as } = await testServer({ database });
    const inLung = await fixtures.image({ dataset_name: 'Akciğer', organ_type: 'Lung' });
    const inLiver = await fixtures.image({ dataset_name: 'Karaciğer', organ_type: 'Liver' });
    const without = await fixtures.image({ dataset_name: null });
    for (const owner of [await fixtures.user(), await fixtures.admin()]) {
      const { token } = await fixtures.apiToken(owner, { scopes: ['slides:read'], datasets: ['akciğer'] });
      const namesOf = async (query: Record<string, string>) =>
        (await as(token).call(listImages, { query })).body.images.map(({ id }) => id);
      expect(await namesOf({})).toEqual([inLung.id]);
      expect(await namesOf({ limit: '10' })).toEqual([inLung.id]);
      expect(await namesOf({ limit: '10', dataset: 'Karaciğer' })).toEqual([]);
      expect(await namesOf({ limit: '10', q: 'tif' })).toEqual([inLung.id]);
      const groups = (await as(token).call(listImageGroups, { query: { order: 'name' } })).body;
      expect(groups).toMatchObject({
        groups: [{ dataset_name: 'Akciğer', images: 1 }],
        organs: [{ organ_type: 'Lung', images: 1 }],
      });
      for (const [image, status] of [
        [inLung, 200],
        [inLiver, 404],
        [without, 404],
      ] as const) {
        const response = await as(token).call(getImage, { params: { imageId: image.id } });
        expect(response.status).toBe(status);
      }
      const unlimitedToken = await fixtures.apiToken(owner, { scopes: ['slides:read'] });
      expect((await as(unlimitedToken.token).call(listImages)).body.images).toHaveLength(3);
    }
  });

  it('without the required scope get 403 with the scope in the header WWW-Authenticate', async () => {
    const { fixtures, as } = await testServer({ database });
    const user = await fixtures.user();
    const { token } = await fixtures.apiToken(user, { scopes: ['annotations:read'] });
    const challenge = 'Bearer error="insufficient_scope"';
    for (const [{ status, headers }, expected] of [
      [await as(token).call(listImages), `${challenge}, scope="slides:read"`],
      [await as(token).call(listApiTokens), challenge], // no scope opens this endpoint
      [await as(user).call(listAllApiTokens), undefined],
    ] as const) {
      expect([status, headers['www-authenticate']]).toEqual([403, expected]);
    }
  });

  it('that are limited to a dataset get 403 from POST /admin/uploads for an upload into another dataset', async () => {
    const { fixtures, as } = await testServer({ database });
    await fixtures.image({ dataset_name: 'Akciğer' });
    const { token } = await fixtures.apiToken(await fixtures.admin(), { datasets: ['Akciğer'] });
    const beginUploadInto = async (dataset: string) => {
      const announced = { path: 'a.svs', is_folder: false, file_count: 1, size_bytes: 1 };
      return (await as(token).call(beginUpload, { body: { dataset, ...announced } })).status;
    };
    expect([await beginUploadInto('Akciğer'), await beginUploadInto('Yeni')]).toEqual([200, 403]);
  });

  it('write one audit event per hour of use, and one more per hour for each slide that they read', async () => {
    const server = await testServer({ database });
    const { fixtures, as, clock } = server;
    const user = await fixtures.user();
    const { token } = await fixtures.apiToken(user);
    const image = await fixtures.image({ fingerprint: 'x' });
    const otherProcess = await server.another();
    const useToken = async () => {
      for (const process of [server, otherProcess, server]) {
        await process.as(token).call(listImages);
        await process.as(token).call(getImage, { params: { imageId: image.id } });
        await process.as(token).call(getImage, { params: { imageId: user.uid } });
      }
      await as(token).call(listImages);
    };
    await useToken();
    const prefix = token.slice(0, 12);
    const eventsOfOneHour = [
      ['api-token-used', null, { call: 'GET /image-catalog/images', token: prefix }],
      ['api-token-used', image.id, { call: 'GET /image-catalog/images/:imageId', token: prefix }],
    ];
    expect(await auditOf(server)).toEqual(eventsOfOneHour);
    clock.advance(hour);
    await useToken();
    expect(await auditOf(server)).toEqual([...eventsOfOneHour, ...eventsOfOneHour]);
  });

  it('write one audit event per slide when they read its annotation layers, with the slide as target', async () => {
    const server = await testServer({ database });
    const { fixtures, as } = server;
    const user = await fixtures.user();
    const { token } = await fixtures.apiToken(user, { scopes: ['annotations:read'] });
    const images = [await fixtures.image({ fingerprint: 'x' }), await fixtures.image({ fingerprint: 'y' })];
    const layerIds: string[] = [];
    for (const { id } of images) {
      const body = { name: 'Katman', visibility: 'members' } as const;
      const created = await as(user).call(createAnnotationLayer, { params: { imageId: id }, body });
      layerIds.push(created.body.id);
    }
    for (const layerId of [...layerIds, ...layerIds, user.uid]) {
      await as(token).inject({ method: 'GET', url: `/annotation-layers/${layerId}/annotations` });
    }
    const use = { call: 'GET /annotation-layers/:layerId/annotations', token: token.slice(0, 12) };
    expect(await auditOf(server)).toEqual([
      ['api-token-used', images[0]?.id, use],
      ['api-token-used', images[1]?.id, use],
      ['api-token-used', null, use], // an unknown layer
    ]);
  });

  it('cannot be created by an account that already has 50 of them: the request gets 409', async () => {
    const { fixtures, as } = await testServer({ database });
    const user = await fixtures.user();
    for (let i = 0; i < 50; i++) await fixtures.apiToken(user);
    const body = { name: 'x', scopes: ['slides:read'] };
    expect(await as(user).call(createApiToken, { body })).toMatchObject({
      status: 409,
      body: { code: 'too_many_api_tokens' },
    });
  });
});

describe('rate limit of API tokens', () => {
  it('counts the requests of all tokens of an owner together, and returns 429 with Retry-After beyond the burst limit', async () => {
    const { fixtures, as, clock } = await testServer();
    const user = await fixtures.user();
    const [firstToken, secondToken] = [await fixtures.apiToken(user), await fixtures.apiToken(user)];
    for (let i = 0; i < apiTokenRate.burst; i++)
      await as(firstToken.token).call(listImages, { query: { limit: '1' } });
    const limitedResponse = await as(secondToken.token).call(listImages);
    expect(limitedResponse).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(limitedResponse.headers['retry-after']).toBe('1');
    expect((await as(user).call(listImages)).status).toBe(200);
    clock.advance(1000);
    expect((await as(secondToken.token).call(listImages)).status).toBe(200);
  });

  it('allows further requests as time passes, but never more at once than the burst limit', () => {
    const limit = createApiTokenLimit({ perSecond: 2, burst: 3 });
    /** Returns, for each of four requests at a time in ms, how many seconds the client has to wait; 0: the request is allowed. */
    const take = (at: number) => [1, 2, 3, 4].map(() => limit.countRequest('a', at));
    expect(take(0)).toEqual([0, 0, 0, 1]);
    expect(take(1000)).toEqual([0, 0, 1, 1]);
    expect(take(60_000)).toEqual([0, 0, 0, 1]);
    expect(limit.countRequest('b', 60_000)).toBe(0);
  });
});
