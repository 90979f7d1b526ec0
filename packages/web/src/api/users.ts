/** Accounts and statistics for administrators. */
import {
  AppError,
  applicationsAtOnce,
  approveApplications,
  approveUser,
  countWaiting,
  deactivateUser,
  type GrantableRole,
  getStatistics,
  getUser,
  listApplications,
  listUsers,
  promoteUser,
  type Role,
  rejectApplications,
  rejectUser,
  resetSecondFactor,
  type Status,
  setUserPassword,
  suspendUser,
  type UserCounts,
  type UserDetails,
  type UserSort,
  updateUserAccess,
  withdrawApproval as withdrawApprovalCall,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, fieldOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';
import { applicationsKey, invalidateUsers, invalidateWaiting, usersKey, waitingKey } from './users-keys.ts';

/** Accounts on a page of All Users. */
export const usersPerPage = 50;

/** What All Users is narrowed and ordered by. */
export interface UserQuery {
  /** Empty: no search. */
  readonly search: string;
  /** Null: every status. */
  readonly status: Status | null;
  /** Null: every role. */
  readonly role: Role | null;
  readonly sort: UserSort;
  /** From 1. */
  readonly page: number;
}

interface UserPage {
  readonly users: readonly UserDetails[];
  /** Accounts that match, on this page or not. */
  readonly total: number;
  /** By status; null where the server does not count them. */
  readonly counts: UserCounts | null;
}

/**
 * One page of the accounts; the page before stays while another one is loaded. The first page without search and filters is
 * the call of the specification, without parameters: its answer has every account, and the first ones are taken.
 */
export function useUsers(shown: UserQuery) {
  return useQuery({
    queryKey: [...usersKey, shown],
    queryFn: async ({ signal }): Promise<UserPage> => {
      const {
        users,
        total = users.length,
        counts = null,
      } = await call(listUsers, {
        query: parametersOf(shown),
        signal,
      });
      return { users: users.slice(0, usersPerPage), total, counts };
    },
    placeholderData: (before) => before,
  });
}

function parametersOf({ search, status, role, sort, page }: UserQuery) {
  const narrowed = {
    ...(page > 1 && { offset: (page - 1) * usersPerPage }),
    ...(search !== '' && { q: search }),
    ...(status !== null && { status }),
    ...(role !== null && { role }),
    ...(sort !== 'newest' && { sort }),
  };
  return Object.keys(narrowed).length === 0 ? {} : { ...narrowed, limit: usersPerPage };
}

/** Every account, newest first. */
export function useAllUsers() {
  return useQuery({
    queryKey: [...usersKey, 'all'],
    queryFn: async ({ signal }): Promise<UserPage> => {
      const { users } = await call(listUsers, { query: {}, signal });
      return { users, total: users.length, counts: null };
    },
    select: ({ users }) => users,
  });
}

/** Another administrator may decide, and another person may apply, at any time. */
const current = { refetchInterval: 30_000, refetchOnWindowFocus: 'always' } as const;

/** The first applicants that match, longest waiting first, with accounts that may belong to the same person. */
export function useApplications(search: string, limit: number) {
  return useQuery({
    queryKey: [...applicationsKey, search, limit],
    queryFn: ({ signal }) =>
      call(listApplications, {
        query: { ...(search !== '' && { q: search }), ...(limit !== applicationsAtOnce && { limit }) },
        signal,
      }),
    placeholderData: (before) => before,
    ...current,
  });
}

/** Returns how many applicants and dataset requests wait. */
export function useWaiting() {
  return useQuery({
    queryKey: waitingKey,
    queryFn: ({ signal }) => call(countWaiting, { signal }),
    ...current,
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

/** @param role null: the earlier role, else `user` */
export function approve(uid: string, role: GrantableRole | null): Promise<ActionResult> {
  const body = role === null ? {} : { role };
  return change(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

/** Datasets and end date of an account. */
export interface Terms {
  /** Restricted datasets; replaces the earlier ones. */
  readonly datasets: readonly string[];
  /** ISO 8601; null: no end date. */
  readonly expiresAt: string | null;
}

export function approveWith(uid: string, role: GrantableRole, terms: Terms): Promise<ActionResult> {
  const body = { role, ...termsBody(terms) };
  return change(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

/** Withdraws an approval given by mistake: the account is pending again. */
export function withdrawApproval(uid: string): Promise<ActionResult> {
  const called = call(withdrawApprovalCall, { params: { uid } });
  return change(uid, called, texts.approvalWithdrawn, texts.withdrawFailed);
}

export function reject(uid: string, reason: string): Promise<ActionResult> {
  const called = call(rejectUser, { params: { uid }, body: { reason } });
  return change(uid, called, texts.rejected, texts.rejectFailed);
}

/** Applicants in one call, so that the progress is seen and a call ends long before its timeout. */
const decisionsInCall = 20;

/** The same decision about several applicants. */
export type Decision =
  | { readonly kind: 'approve'; readonly role: GrantableRole; readonly terms: Terms }
  | { readonly kind: 'reject'; readonly reason: string };

/**
 * Decides about several applicants, some in each call.
 *
 * @param onProgress receives the number of people decided about so far, successfully or not
 * @param isStopped asked before each call; the rest stays undecided, without a failure
 * @returns the failures by uid, each with its message
 */
export async function decideApplications(
  uids: readonly string[],
  decision: Decision,
  onProgress: (decided: number) => void,
  isStopped: () => boolean = () => false,
): Promise<{ readonly failures: ReadonlyMap<string, string>; readonly decided: number }> {
  const failures = new Map<string, string>();
  const failed = decision.kind === 'approve' ? texts.approveFailed : texts.rejectFailed;
  let decided = 0;
  try {
    while (decided < uids.length && !isStopped()) {
      const some = uids.slice(decided, decided + decisionsInCall);
      const outcomes = await decideSome(some, decision, failed);
      for (const uid of some) {
        const message = outcomes.get(uid) ?? null;
        if (message !== null) failures.set(uid, message);
      }
      decided += some.length;
      onProgress(decided);
    }
  } finally {
    invalidateUsers();
    invalidateWaiting();
  }
  return { failures, decided };
}

/** @returns the message for each person about whom the call failed */
async function decideSome(
  uids: readonly string[],
  decision: Decision,
  failed: string,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { results } =
      decision.kind === 'approve'
        ? await call(approveApplications, {
            body: { uids: [...uids], role: decision.role, ...termsBody(decision.terms) },
          })
        : await call(rejectApplications, { body: { uids: [...uids], reason: decision.reason } });
    const outcomes = new Map(results.map(({ uid, error }) => [uid, error]));
    return new Map(
      uids.flatMap((uid) => {
        const error = outcomes.get(uid);
        return error === null ? [] : [[uid, error?.message ?? failed] as const];
      }),
    );
  } catch (error) {
    const message = messageOf(error, failed);
    return new Map(uids.map((uid) => [uid, message]));
  }
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

/** Undoes a suspension: also restores the role of an administrator, which approving does not. */
export async function undoSuspension(uid: string, wasAdmin: boolean): Promise<ActionResult> {
  const approved = await approve(uid, null);
  return approved.success && wasAdmin ? promote(uid) : approved;
}

/**
 * Changes the role of an active account. The API gives `user` and `viewer` only when it approves an account, so it is
 * suspended first: its sign-ins end, its grants and its end date stay.
 */
export async function changeRole(uid: string, role: GrantableRole | 'admin'): Promise<ActionResult> {
  if (role === 'admin') return promote(uid);
  const suspended = await suspend(uid);
  if (!suspended.success) return suspended;
  const called = call(approveUser, { params: { uid }, body: { role } });
  return change(uid, called, texts.roleChanged, texts.roleChangeFailed);
}

export function promote(uid: string): Promise<ActionResult> {
  return change(uid, call(promoteUser, { params: { uid } }), texts.promoted, texts.promoteFailed);
}

export function deactivate(uid: string): Promise<ActionResult> {
  return change(uid, call(deactivateUser, { params: { uid } }), texts.deactivated, texts.deactivateFailed);
}

/** For a person who has lost both the phone and the recovery codes. */
export function removeSecondFactor(uid: string): Promise<ActionResult> {
  const called = call(resetSecondFactor, { params: { uid } });
  return change(uid, called, texts.secondFactorReset, texts.secondFactorResetFailed);
}

export function setPassword(uid: string, newPassword: string): Promise<ActionResult> {
  const called = call(setUserPassword, { params: { uid }, body: { new_password: newPassword } });
  return change(uid, called, texts.passwordChanged, texts.passwordFailed);
}

/** Reloads the account after success and failure: a failure may mean that it has changed. */
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
    invalidateWaiting();
  }
}

/** Updates or removes this account in the list. */
async function reload(uid: string): Promise<void> {
  try {
    const { user } = await call(getUser, { params: { uid } });
    changePages((users) => users.map((known) => (known.uid === uid ? user : known)));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') {
      changePages((users) => users.filter((known) => known.uid !== uid));
      return;
    }
    // The card may be out of date now; the refresh button loads it again.
    console.warn('The account could not be loaded again.', error);
  }
}

function changePages(edit: (users: readonly UserDetails[]) => readonly UserDetails[]): void {
  queryClient.setQueriesData<UserPage>(
    { queryKey: usersKey },
    (page) => page && { ...page, users: edit(page.users) },
  );
}
