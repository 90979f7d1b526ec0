/** Every account action from every account state, through HTTP: the table in docs/permissions.md section 5. */
import { deleteAccount, type Endpoint, endpoints, errors, isErrorCode } from '@lamina/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import {
  type AccountState,
  accountCalls,
  accountStates,
  outcomeOf,
  statusAndRoleOf,
} from '../testing/state-table.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

/** Describes an outcome of the table, such as `active:user!`, for the name of a test. */
function effectOf(outcome: string): string {
  const result = outcome.replace(/!$/, '');
  const ending = outcome.endsWith('!') ? ' and ends its earlier tokens and sessions' : '';
  if (isErrorCode(result)) return `returns ${errors[result].status} ${result} and changes nothing`;
  if (result === '=') return 'returns 200 and changes nothing';
  if (result === '*') return `replaces the password${ending}`;
  const [status, role] = result.split(':');
  return `gives it the status ${status} and the role ${role}${ending}`;
}

/** Describes an account in this state, for the name of a test. */
function descriptionOf(state: AccountState): string {
  if (state === 'self') return "the calling administrator's own account";
  const { status, role } = statusAndRoleOf(state);
  return status === 'pending'
    ? 'a pending account'
    : `an account with the status ${status} and the role ${role}`;
}

describe.each(databaseKinds)('account administration (database: %s):', (database) => {
  let server: TestServer;
  let admin: TestUser;
  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
    await server.fixtures.admin(); // so that no other administrator is the last one
  });
  afterAll(() => server.close());

  const find = (uid: string) =>
    server.services.db.selectFrom('users').selectAll().where('uid', '=', uid).executeTakeFirstOrThrow();
  const countTokens = async (uid: string) =>
    (await server.services.db.selectFrom('tokens').select('hash').where('uid', '=', uid).execute()).length;
  const auditEventsOf = (uid: string) =>
    server.services.db
      .selectFrom('audit')
      .select(['action', 'result', 'actor_uid'])
      .where('target', '=', uid)
      .where('action', '!=', 'sign-in')
      .execute();

  /** Returns an account in this state that is signed in. */
  async function accountOf(state: AccountState): Promise<TestUser> {
    if (state === 'self') return admin;
    const { fixtures, services } = server;
    const { status, role } = statusAndRoleOf(state);
    const user = await fixtures.user({ role });
    await fixtures.token(user);
    const isApproved = status !== 'pending';
    await services.db
      .updateTable('users')
      .set({
        status,
        admin_approved: isApproved ? 1 : 0,
        approval_date: isApproved ? user.approvalDate : null,
      })
      .where('uid', '=', user.uid)
      .execute();
    return user;
  }

  describe.each(Object.keys(accountCalls))('the administrator action "%s"', (call) => {
    it.each(
      accountStates.map((state) => [descriptionOf(state), effectOf(outcomeOf(call, state)), state] as const),
    )('on %s %s', async (_, __, state) => {
      const { fixtures, as, clock } = server;
      admin = await fixtures.admin();
      const token = await fixtures.token(admin);
      const { uid } = await accountOf(state);
      const before = await find(uid);
      clock.advance(1000);

      const { endpoint: name, body } = accountCalls[call] ?? {};
      const endpoint = endpoints[name ?? ''] as Endpoint;
      const url = endpoint.path.replace(':uid', uid);
      const answer = await as(token).inject({
        method: endpoint.method,
        url,
        ...(body && { payload: body }),
      });

      const expected = outcomeOf(call, state);
      const word = expected.replace(/!$/, '');
      const after = await find(uid);
      const events = await auditEventsOf(uid);
      if (isErrorCode(word)) {
        expect(answer).toMatchObject({ status: errors[word].status, body: { code: word } });
        expect(after).toEqual(before);
        expect(events.filter(({ result }) => result === 'done')).toEqual([]);
      } else if (word === '=') {
        expect(answer.status).toBe(200);
        expect([after, events]).toEqual([before, []]);
      } else {
        expect(answer.status).toBe(200);
        const [status, role] = word === '*' ? [before.status, before.role] : word.split(':');
        const isApproval = endpoint === endpoints.approveUser;
        const isWithdrawn = endpoint === endpoints.withdrawApproval;
        expect(after).toEqual({
          ...before,
          status,
          role,
          admin_approved: isApproval ? 1 : isWithdrawn ? 0 : before.admin_approved,
          // Reactivating keeps the date of the first approval.
          approval_date: isApproval
            ? (before.approval_date ?? clock.now().toISOString())
            : isWithdrawn
              ? null
              : before.approval_date,
          updated_at: clock.now().toISOString(),
        });
        expect(events).toMatchObject([{ result: 'done', actor_uid: admin.uid }]);
      }
      expect(await countTokens(uid)).toBe(expected.endsWith('!') ? 0 : 1);
    });
  });

  it('deletion of the own account returns 200 to one of two active administrators, and 409 last_admin to the last one', async () => {
    const alone = await testServer({ database });
    const [one, other] = [await alone.fixtures.admin(), await alone.fixtures.admin()];
    await alone.fixtures.admin({ status: 'suspended' });
    expect((await alone.as(one).call(deleteAccount)).status).toBe(200);
    expect(await alone.as(other).call(deleteAccount)).toMatchObject({
      status: 409,
      body: { code: 'last_admin' },
    });
  });
});
