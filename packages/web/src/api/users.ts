/** What administrators see and do: every account, and the numbers of the whole product. */
import {
  AppError,
  approveUser,
  countWaiting,
  deactivateUser,
  type GrantableRole,
  getStatistics,
  getUser,
  listApplications,
  listUsers,
  promoteUser,
  rejectUser,
  resetSecondFactor,
  setUserPassword,
  suspendUser,
  type UserDetails,
  updateUserAccess,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from './action-result.ts';
import { call, codeOf, fieldOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const usersKey = ['users'];

/** Newest first. */
export function useUsers() {
  return useQuery({
    queryKey: usersKey,
    queryFn: async ({ signal }): Promise<readonly UserDetails[]> => (await call(listUsers, { signal })).users,
  });
}

const waitingKey = ['waiting'];
const applicationsKey = ['applications'];
/** Somebody else may decide, and somebody new may ask, at any time. */
const current = { refetchInterval: 30_000, refetchOnWindowFocus: 'always' } as const;

/** Who waits for approval, longest first, with accounts that may be the same person. */
export function useApplications() {
  return useQuery({
    queryKey: applicationsKey,
    queryFn: ({ signal }) => call(listApplications, { signal }),
    ...current,
  });
}

/** How many people and dataset requests wait for an administrator. */
export function useWaiting() {
  return useQuery({
    queryKey: waitingKey,
    queryFn: ({ signal }) => call(countWaiting, { signal }),
    ...current,
  });
}

/** After something that waited has been decided, or has been found to be decided. */
export function renewWaiting(): void {
  for (const queryKey of [waitingKey, applicationsKey]) void queryClient.invalidateQueries({ queryKey });
}

/** A person's account has changed in what the list shows of it. */
export function renewUsers(): void {
  void queryClient.invalidateQueries({ queryKey: usersKey });
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

/** What an account may see, and how long. */
export interface Terms {
  /** Restricted datasets, in the place of earlier ones. */
  readonly datasets: readonly string[];
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
}

export function approveWith(uid: string, role: GrantableRole, terms: Terms): Promise<ActionResult> {
  const body = { role, ...termsBody(terms) };
  return change(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

export function reject(uid: string, reason: string): Promise<ActionResult> {
  const called = call(rejectUser, { params: { uid }, body: { reason } });
  return change(uid, called, texts.rejected, texts.rejectFailed);
}

export function changeAccess(uid: string, terms: Terms): Promise<ActionResult> {
  const called = call(updateUserAccess, { params: { uid }, body: termsBody(terms) });
  return change(uid, called, texts.accessChanged, texts.accessFailed);
}

function termsBody({ datasets, expiresAt }: Terms) {
  return { datasets: [...datasets], expires_at: expiresAt };
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

/** Somebody has lost both the telephone and the recovery codes. */
export function removeSecondFactor(uid: string): Promise<ActionResult> {
  const called = call(resetSecondFactor, { params: { uid } });
  return change(uid, called, texts.secondFactorReset, texts.secondFactorResetFailed);
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
    return { success: false, message: messageOf(error, failed), error: codeOf(error), field: fieldOf(error) };
  } finally {
    await reload(uid);
    renewWaiting();
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

function changeList(edit: (users: readonly UserDetails[]) => readonly UserDetails[]): void {
  queryClient.setQueryData<readonly UserDetails[]>(usersKey, (users) => users && edit(users));
}
