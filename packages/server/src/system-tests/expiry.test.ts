/** An account is suspended automatically when its end date has passed: permissions.md P7. */
import {
  approveUser,
  createImageSession,
  createShareLink,
  getProfile,
  getStatistics,
  getUser,
  listImages,
  listUsers,
  openShareLink,
  promoteUser,
  verifyToken,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { restoreAdmin } from '../accounts/first-admin.ts';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

async function pixels({ as }: Pick<TestServer, 'as'>, session: string) {
  const { status, body } = await as(null).inject({
    url: `/image-catalog/proxy/x/image.dzi?session=${session}`,
  });
  return [status, (body as { code: string }).code];
}
const accepted = [404, 'not_found']; // the image does not exist
const refused = [401, 'session_invalid'];

/** Returns a signed-in user with an image session, whose end date is in ten minutes. */
async function tenMinutesBeforeEnd(server: TestServer) {
  const expiresAt = new Date(server.clock.now().getTime() + 10 * minute).toISOString();
  const user = await server.fixtures.user({ expiresAt });
  const token = await server.fixtures.token(user);
  const { body } = await server.as(token).call(createImageSession);
  return { user, token, session: body.session_id, expiresAt };
}

describe.each(databaseKinds)('an account with an end date of its access (database: %s)', (database) => {
  it('has full access before the end date', async () => {
    const server = await testServer({ database });
    const { token, session, expiresAt } = await tenMinutesBeforeEnd(server);
    server.clock.advance(10 * minute - 1);
    expect((await server.as(token).call(getProfile)).body.user).toMatchObject({
      status: 'active',
      expiresAt,
    });
    expect(await pixels(server, session)).toEqual(accepted);
  });

  it('loses every token and image session (credential for tiles) within a second after the end date, in every server process', async () => {
    const server = await testServer({ database });
    const another = await server.another();
    const { token, session } = await tenMinutesBeforeEnd(server);
    server.clock.advance(10 * minute - 1);
    for (const each of [server, another]) expect(await pixels(each, session)).toEqual(accepted);
    server.clock.advance(1001);
    for (const each of [server, another]) {
      expect(await pixels(each, session)).toEqual(refused);
      const answer = await each.as(token).call(listImages);
      expect(answer).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
      expect((await each.as(null).call(verifyToken, { body: { token } })).status).toBe(401);
    }
  });

  it('can sign in after the end date, but gets 403 for everything except its profile, which has the status suspended', async () => {
    const server = await testServer({ database });
    const { user, expiresAt } = await tenMinutesBeforeEnd(server);
    server.clock.advance(day);
    const token = await server.fixtures.token(user);
    const profile = await server.as(token).call(getProfile);
    expect(profile.body.user).toMatchObject({ status: 'suspended', expiresAt });
    const verified = await server.as(null).call(verifyToken, { body: { token } });
    expect(verified.body.user.status).toBe('suspended');
    for (const endpoint of [listImages, createImageSession]) {
      expect(await server.as(token).call(endpoint)).toMatchObject({
        status: 403,
        body: { code: 'account_not_active', status: 'suspended' },
      });
    }
  });

  it('is shown as suspended to administrators after the end date', async () => {
    const server = await testServer({ database });
    const { user } = await tenMinutesBeforeEnd(server);
    server.clock.advance(day);
    const admin = server.as(await server.fixtures.admin());
    const one = await admin.call(getUser, { params: { uid: user.uid } });
    expect(one.body.user.status).toBe('suspended');
    const all = await admin.call(listUsers);
    expect(all.body.users.find(({ uid }) => uid === user.uid)?.status).toBe('suspended');
    const statistics = await admin.call(getStatistics);
    expect(statistics.body.usersByStatus).toEqual({ pending: 0, active: 1, suspended: 1, deactivated: 0 });
    const promoted = await admin.call(promoteUser, { params: { uid: user.uid } });
    expect(promoted).toMatchObject({ status: 409, body: { code: 'not_active' } });
  });

  it('loses its end date when it becomes an administrator', async () => {
    const server = await testServer({ database });
    const [promoted, restored] = [await tenMinutesBeforeEnd(server), await tenMinutesBeforeEnd(server)];
    const admin = await server.fixtures.admin();
    await server.as(admin).call(promoteUser, { params: { uid: promoted.user.uid } });
    server.clock.advance(day);
    await restoreAdmin(server.services, restored.user.email); // as the command restore-admin does
    const adminOnNextDay = server.as(admin);
    for (const { uid } of [promoted.user, restored.user]) {
      const { body } = await adminOnNextDay.call(getUser, { params: { uid } });
      expect(body.user).toMatchObject({ status: 'active', role: 'admin', expiresAt: null });
    }
  });

  it('does not get its ended share links back when the command restore-admin reactivates it: the links return 404', async () => {
    const server = await testServer({ database });
    const { db } = server.services;
    const { user, token } = await tenMinutesBeforeEnd(server);
    const now = server.clock.now().toISOString();
    await saveDataset(db, { name: 'Kolon', access: 'open', isListed: false, isShared: true, now });
    const { id } = await server.fixtures.image({ dataset_name: 'Kolon' });
    const body = { target: { type: 'slide', id }, title: 'Ders' } as const;
    const { url } = (await server.as(token).call(createShareLink, { body })).body;
    const open = () => server.as(null).call(openShareLink, { body: { secret: url.split('#')[1] ?? '' } });
    expect((await open()).status).toBe(200);
    server.clock.advance(day);
    await restoreAdmin(server.services, user.email);
    expect((await open()).status).toBe(404);
  });

  it('is active again after an approval, but tokens and sessions from before the end date stay invalid', async () => {
    const server = await testServer({ database });
    const { user, token, session } = await tenMinutesBeforeEnd(server);
    server.clock.advance(11 * minute);
    const tokenAfterEnd = await server.fixtures.token(user);
    const expires_at = new Date(server.clock.now().getTime() + day).toISOString();
    const approved = await server
      .as(await server.fixtures.admin())
      .call(approveUser, { params: { uid: user.uid }, body: { expires_at } });
    expect(approved.status).toBe(200);

    expect((await server.as(tokenAfterEnd).call(createImageSession)).status).toBe(201);
    expect((await server.as(tokenAfterEnd).call(getProfile)).body.user).toMatchObject({
      status: 'active',
      expiresAt: expires_at,
    });
    expect((await server.as(token).call(getProfile)).status).toBe(401);
    expect(await pixels(server, session)).toEqual(refused);
    expect(await pixels(await server.another(), session)).toEqual(refused);
  });
});
