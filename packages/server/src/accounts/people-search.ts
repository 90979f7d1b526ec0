/**
 * Searches, filters and sorts accounts. All accounts are read and matched in this process, because the
 * database cannot compute the status of an expired account or ignore diacritics. 20,000 accounts take about 100 ms.
 */
import {
  foldDiacritics,
  matchesWords,
  naturalKey,
  type Role,
  type Status,
  searchWords,
  type UserCounts,
  type UserDetails,
  type UserSort,
} from '@lamina/contract';
import { effectiveAccount } from '../domain/account.ts';
import type { Connection } from '../store/database.ts';
import {
  findUserDetailsOf,
  type ListedUser,
  listUserDetails,
  listUsersForSearch,
} from '../store/user-details.ts';

export interface PeopleQuery {
  readonly q?: string | undefined;
  readonly status?: Status | undefined;
  readonly role?: Role | undefined;
  readonly sort: UserSort;
  /** Maximum number of accounts on a page. Default: no limit. */
  readonly limit?: number | undefined;
  readonly offset: number;
}

export interface PeoplePage {
  readonly users: UserDetails[];
  /** Number of all accounts that match, not only those on this page. */
  readonly total: number;
  /** Number of accounts that match search and role, by status. */
  readonly counts: UserCounts;
}

/** Beyond this number all accounts are read and filtered here, because databases limit the parameters of a query. */
const maxUidsInQuery = 1000;

export async function searchPeople(db: Connection, query: PeopleQuery, now: Date): Promise<PeoplePage> {
  const stored = await listUsersForSearch(db);
  const words = searchWords(query.q ?? '');
  const matching = stored
    .map((user) => effectiveAccount(user, now))
    .filter((user) => query.role === undefined || user.role === query.role)
    .filter((user) => words.length === 0 || matchesWords(searchedText(user), words));
  const counts: UserCounts = { pending: 0, active: 0, suspended: 0, deactivated: 0 };
  for (const { status } of matching) counts[status] += 1;
  const listed = inOrder(
    matching.filter(({ status }) => query.status === undefined || status === query.status),
    query.sort,
  );
  const end = query.limit === undefined ? undefined : query.offset + query.limit;
  const users = await detailsOf(
    db,
    listed.slice(query.offset, end).map(({ uid }) => uid),
  );
  return { users: users.map((user) => effectiveAccount(user, now)), total: listed.length, counts };
}

async function detailsOf(db: Connection, uids: readonly string[]): Promise<UserDetails[]> {
  if (uids.length <= maxUidsInQuery) return findUserDetailsOf(db, uids);
  const all = new Map((await listUserDetails(db)).map((user) => [user.uid, user]));
  return uids.flatMap((uid) => all.get(uid) ?? []);
}

function searchedText({ uid, email, displayName, affiliation }: ListedUser): string {
  return foldDiacritics([displayName, email, affiliation, uid].join(' '));
}

function inOrder(users: readonly ListedUser[], sort: UserSort): readonly ListedUser[] {
  const keyOf = (user: ListedUser): string => {
    if (sort === 'name') return naturalKey(user.displayName ?? user.email);
    return sort === 'changed' ? user.updatedAt : user.createdAt;
  };
  const direction = sort === 'newest' || sort === 'changed' ? -1 : 1;
  return users
    .map((user) => ({ user, key: keyOf(user) }))
    .sort((a, b) => direction * (compare(a.key, b.key) || compare(a.user.uid, b.user.uid)))
    .map(({ user }) => user);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
