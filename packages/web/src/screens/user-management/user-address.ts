/** Query parameters of the user management URL. `readUserQuery` and `writeUserQuery` convert all except `view`. */
import { Role, Status, UserSort } from '@lamina/contract';
import { type UserQuery, usersPerPage } from '../../api/users.ts';

/** `view=waiting` opens the queue of applicants. E-mails to administrators link to it. */
export const viewParameter = 'view';
export const searchParameter = 'q';

/** Largest offset (number of accounts before the page) that the API accepts. */
const maxOffset = 1_000_000;
const maxPage = maxOffset / usersPerPage + 1;

/** Returns the query of the list. A missing or invalid parameter gets its default. */
export function readUserQuery(urlQuery: URLSearchParams): UserQuery {
  const page = Number(urlQuery.get('page'));
  return {
    search: urlQuery.get(searchParameter)?.trim() ?? '',
    status: Status.safeParse(urlQuery.get('status')).data ?? null,
    role: Role.safeParse(urlQuery.get('role')).data ?? null,
    sort: UserSort.safeParse(urlQuery.get('sort')).data ?? 'newest',
    page: Number.isSafeInteger(page) && page > 1 && page <= maxPage ? page : 1,
  };
}

/** Returns the query parameters. Parameters with their default value are omitted. */
export function writeUserQuery({ search, status, role, sort, page }: UserQuery): URLSearchParams {
  return new URLSearchParams({
    ...(search !== '' && { [searchParameter]: search }),
    ...(status !== null && { status }),
    ...(role !== null && { role }),
    ...(sort !== 'newest' && { sort }),
    ...(page > 1 && { page: String(page) }),
  });
}
