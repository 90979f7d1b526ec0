/**
 * API calls of administrators for accounts, applications (pending accounts) and statistics. A function that returns an
 * `ActionResult` never throws: the result says whether the call succeeded, with a message for the user.
 */
import {
  AppError,
  applicationsDefaultLimit,
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
import {
  applicationsKey,
  invalidateUsers,
  invalidateWaitingCounts,
  usersKey,
  waitingKey,
} from './users-keys.ts';

/** Number of accounts on a page of the screen All Users. */
export const usersPerPage = 50;

/** Search, filters, order and page of the screen All Users. */
export interface UserQuery {
  /** Search text; empty: no search. */
  readonly search: string;
  /** Null for any status. */
  readonly status: Status | null;
  /** Null for any role. */
  readonly role: Role | null;
  readonly sort: UserSort;
  /** Number of the page, from 1. */
  readonly page: number;
}

interface UserPage {
  readonly users: readonly UserDetails[];
  /** Number of matching accounts on all pages. */
  readonly total: number;
  /** Number of accounts per status; null when the response has none. */
  readonly counts: UserCounts | null;
}

/**
 * Loads one page of accounts, and returns the previous page until the new one is loaded. For the first page in the
 * default order without search and filters, the API contract requires a call without parameters. The response to that
 * call contains all accounts, of which the hook returns the first 50.
 */
export function useUsers(userQuery: UserQuery) {
  return useQuery({
    queryKey: [...usersKey, userQuery],
    queryFn: async ({ signal }): Promise<UserPage> => {
      const {
        users,
        total = users.length,
        counts = null,
      } = await call(listUsers, {
        query: parametersOf(userQuery),
        signal,
      });
      return { users: users.slice(0, usersPerPage), total, counts };
    },
    placeholderData: (previous) => previous,
  });
}

/** Returns the query parameters of a page of accounts; none for the first page in the default order without search and filters. */
function parametersOf({ search, status, role, sort, page }: UserQuery) {
  const parameters = {
    ...(page > 1 && { offset: (page - 1) * usersPerPage }),
    ...(search !== '' && { q: search }),
    ...(status !== null && { status }),
    ...(role !== null && { role }),
    ...(sort !== 'newest' && { sort }),
  };
  return Object.keys(parameters).length === 0 ? {} : { ...parameters, limit: usersPerPage };
}

/** Loads all accounts, newest first. */
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

/** Options that keep applications up to date: people may apply, and other administrators may decide, at any time. */
const pollOptions = { refetchInterval: 30_000, refetchOnWindowFocus: 'always' } as const;

/** Loads the first `limit` matching applicants, oldest application first, each with accounts that may belong to the same person. */
export function useApplications(search: string, limit: number) {
  return useQuery({
    queryKey: [...applicationsKey, search, limit],
    queryFn: ({ signal }) =>
      call(listApplications, {
        query: { ...(search !== '' && { q: search }), ...(limit !== applicationsDefaultLimit && { limit }) },
        signal,
      }),
    placeholderData: (previous) => previous,
    ...pollOptions,
  });
}

/** Loads how many applicants and how many dataset requests wait for a decision. */
export function useWaitingCounts() {
  return useQuery({
    queryKey: waitingKey,
    queryFn: ({ signal }) => call(countWaiting, { signal }),
    ...pollOptions,
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

/** Approves an account. @param role null: a viewer stays `viewer`, and any other account becomes `user` */
export function approve(uid: string, role: GrantableRole | null): Promise<ActionResult> {
  const body = role === null ? {} : { role };
  return resultOf(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

/** Access of an account: its datasets and its end date. */
export interface Terms {
  /** All restricted datasets that the account may view. */
  readonly datasets: readonly string[];
  /** End of the access, as ISO 8601; null: no end date. */
  readonly expiresAt: string | null;
}

/** Approves an account with a role and terms. */
export function approveWithTerms(uid: string, role: GrantableRole, terms: Terms): Promise<ActionResult> {
  const body = { role, ...termsBody(terms) };
  return resultOf(uid, call(approveUser, { params: { uid }, body }), texts.approved, texts.approveFailed);
}

/** Withdraws an approval given by mistake: the account is pending again. */
export function withdrawApproval(uid: string): Promise<ActionResult> {
  const request = call(withdrawApprovalCall, { params: { uid } });
  return resultOf(uid, request, texts.approvalWithdrawn, texts.withdrawFailed);
}

export function reject(uid: string, reason: string): Promise<ActionResult> {
  const request = call(rejectUser, { params: { uid }, body: { reason } });
  return resultOf(uid, request, texts.rejected, texts.rejectFailed);
}

/** Number of applicants per call: small enough that the progress is visible and a call ends long before its timeout. */
const decisionsPerCall = 20;

/** A decision about one or several applicants. */
export type Decision =
  | { readonly kind: 'approve'; readonly role: GrantableRole; readonly terms: Terms }
  | { readonly kind: 'reject'; readonly reason: string };

/**
 * Approves or rejects several applicants, 20 per call.
 *
 * @param onProgress called after each call with the number of processed applicants, including failures
 * @param isStopped called before each call; when it returns true, the remaining applicants stay pending and do not count as failures
 * @returns the message of each failure by uid, and the number of processed applicants
 */
export async function decideApplications(
  uids: readonly string[],
  decision: Decision,
  onProgress: (decided: number) => void,
  isStopped: () => boolean = () => false,
): Promise<{ readonly failures: ReadonlyMap<string, string>; readonly decided: number }> {
  const failures = new Map<string, string>();
  const failureMessage = decision.kind === 'approve' ? texts.approveFailed : texts.rejectFailed;
  let decided = 0;
  try {
    while (decided < uids.length && !isStopped()) {
      const batch = uids.slice(decided, decided + decisionsPerCall);
      const batchFailures = await decideBatch(batch, decision, failureMessage);
      for (const [uid, message] of batchFailures) failures.set(uid, message);
      decided += batch.length;
      onProgress(decided);
    }
  } finally {
    invalidateUsers();
    invalidateWaitingCounts();
  }
  return { failures, decided };
}

/** Decides about applicants with one call. @returns the message of each failure by uid */
async function decideBatch(
  uids: readonly string[],
  decision: Decision,
  failureMessage: string,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { results } =
      decision.kind === 'approve'
        ? await call(approveApplications, {
            body: { uids: [...uids], role: decision.role, ...termsBody(decision.terms) },
          })
        : await call(rejectApplications, { body: { uids: [...uids], reason: decision.reason } });
    const errorByUid = new Map(results.map(({ uid, error }) => [uid, error]));
    return new Map(
      uids.flatMap((uid) => {
        const error = errorByUid.get(uid); // null: success; undefined: missing in the response
        return error === null ? [] : [[uid, error?.message ?? failureMessage] as const];
      }),
    );
  } catch (error) {
    const message = messageOf(error, failureMessage);
    return new Map(uids.map((uid) => [uid, message]));
  }
}

/** Changes datasets and end date of an active account. */
export function changeAccess(uid: string, terms: Terms): Promise<ActionResult> {
  const request = call(updateUserAccess, { params: { uid }, body: termsBody(terms) });
  return resultOf(uid, request, texts.accessChanged, texts.accessFailed);
}

function termsBody({ datasets, expiresAt }: Terms) {
  return { datasets: [...datasets], expires_at: expiresAt };
}

export function suspend(uid: string): Promise<ActionResult> {
  return resultOf(uid, call(suspendUser, { params: { uid } }), texts.suspended, texts.suspendFailed);
}

/** Undoes a suspension by a new approval. @param wasAdmin whether to promote afterwards: an approval never gives `admin` */
export async function undoSuspension(uid: string, wasAdmin: boolean): Promise<ActionResult> {
  const approved = await approve(uid, null); // null: `viewer` stays, any other role becomes `user`
  return approved.success && wasAdmin ? promote(uid) : approved;
}

/**
 * Changes the role of an active account. The API sets the roles `user` and `viewer` only when an account is approved, so this function
 * suspends the account first. The suspension ends the sign-ins of the account; datasets and end date stay.
 */
export async function changeRole(uid: string, role: GrantableRole | 'admin'): Promise<ActionResult> {
  if (role === 'admin') return promote(uid);
  const suspended = await suspend(uid);
  if (!suspended.success) return suspended;
  const request = call(approveUser, { params: { uid }, body: { role } });
  const approved = await resultOf(uid, request, texts.roleChanged, ''); // '': `roleChangeFailed` below is the message of a failure
  // The message of the server does not say that the account is suspended now.
  return approved.success
    ? approved
    : { ...approved, message: `${texts.roleChangeFailed} ${approved.message}`.trim() };
}

/** Gives an active account the role `admin`. */
export function promote(uid: string): Promise<ActionResult> {
  return resultOf(uid, call(promoteUser, { params: { uid } }), texts.promoted, texts.promoteFailed);
}

export function deactivate(uid: string): Promise<ActionResult> {
  return resultOf(uid, call(deactivateUser, { params: { uid } }), texts.deactivated, texts.deactivateFailed);
}

/** Removes the second factor of a user who has lost both the authenticator app and the recovery codes. */
export function removeSecondFactor(uid: string): Promise<ActionResult> {
  const request = call(resetSecondFactor, { params: { uid } });
  return resultOf(uid, request, texts.secondFactorReset, texts.secondFactorResetFailed);
}

export function setPassword(uid: string, newPassword: string): Promise<ActionResult> {
  const request = call(setUserPassword, { params: { uid }, body: { new_password: newPassword } });
  return resultOf(uid, request, texts.passwordChanged, texts.passwordFailed);
}

/**
 * Returns the result of a request that changes an account. Reloads the account also after a failure, which may mean that another
 * administrator has changed it.
 */
async function resultOf(
  uid: string,
  request: Promise<unknown>,
  successMessage: string,
  failureMessage: string,
): Promise<ActionResult> {
  try {
    await request;
    return { success: true, message: successMessage };
  } catch (error) {
    return {
      success: false,
      message: messageOf(error, failureMessage),
      error: codeOf(error),
      field: fieldOf(error),
    };
  } finally {
    await reloadAccount(uid);
    invalidateWaitingCounts();
  }
}

/** Loads an account again and updates the cached pages. Removes an account that no longer exists from these pages. */
async function reloadAccount(uid: string): Promise<void> {
  try {
    const { user } = await call(getUser, { params: { uid } });
    updateCachedPages((users) => users.map((cached) => (cached.uid === uid ? user : cached)));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') {
      updateCachedPages((users) => users.filter((cached) => cached.uid !== uid));
      return;
    }
    // The card of the account may now be outdated until the user presses the refresh button of the screen.
    console.warn(`The account ${uid} could not be reloaded after the change.`, error);
  }
}

function updateCachedPages(edit: (users: readonly UserDetails[]) => readonly UserDetails[]): void {
  queryClient.setQueriesData<UserPage>(
    { queryKey: usersKey },
    (page) => page && { ...page, users: edit(page.users) },
  );
}
