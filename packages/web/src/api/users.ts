/** What administrators see and do: every account, and the numbers of the whole product. */
import {
  AppError,
  approveUser,
  deactivateUser,
  type GrantableRole,
  getStatistics,
  getUser,
  listUsers,
  promoteUser,
  setUserPassword,
  suspendUser,
  type User,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from './action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const usersKey = ['users'];

/** Newest first. */
export function useUsers() {
  return useQuery({
    queryKey: usersKey,
    queryFn: async ({ signal }): Promise<readonly User[]> => (await call(listUsers, { signal })).users,
  });
}

export function useStatistics() {
  return useQuery({
    queryKey: ['statistics'],
    queryFn: ({ signal }) => {
      const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
      return call(getStatistics, { query: { zone }, signal });
    },
  });
}

/** @param role null: the account gets the role back that it had, else `user` */
export function approve(uid: string, role: GrantableRole | null): Promise<ActionResult> {
  const body = role === null ? {} : { role };
  return change(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

export function suspend(uid: string): Promise<ActionResult> {
  return change(uid, call(suspendUser, { params: { uid } }), texts.suspended, texts.suspendFailed);
}

export function promote(uid: string): Promise<ActionResult> {
  return change(uid, call(promoteUser, { params: { uid } }), texts.promoted, texts.promoteFailed);
}

export function deactivate(uid: string): Promise<ActionResult> {
  return change(uid, call(deactivateUser, { params: { uid } }), texts.deactivated, texts.deactivateFailed);
}

export function setPassword(uid: string, newPassword: string): Promise<ActionResult> {
  const called = call(setUserPassword, { params: { uid }, body: { new_password: newPassword } });
  return change(uid, called, texts.passwordChanged, texts.passwordFailed);
}

/** After any action the account is asked for again: a refusal, too, may mean that it is not what was shown. */
async function change(
  uid: string,
  called: Promise<unknown>,
  done: string,
  failed: string,
): Promise<ActionResult> {
  try {
    await called;
    return { success: true, message: done };
  } catch (error) {
    return { success: false, message: messageOf(error, failed), error: codeOf(error) };
  } finally {
    await reload(uid);
  }
}

/** Only this account changes in the list; one that is gone leaves it. */
async function reload(uid: string): Promise<void> {
  try {
    const { user } = await call(getUser, { params: { uid } });
    changeList((users) => users.map((known) => (known.uid === uid ? user : known)));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') {
      changeList((users) => users.filter((known) => known.uid !== uid));
      return;
    }
    // What is shown may be old now, and the refresh button is there for that.
    console.warn('The account could not be loaded again.', error);
  }
}

function changeList(edit: (users: readonly User[]) => readonly User[]): void {
  queryClient.setQueryData<readonly User[]>(usersKey, (users) => users && edit(users));
}
