/** Search, filters, order and page of All Users as they stand in the address. */
import { Role, Status, UserSort } from '@lamina/contract';
import type { UserQuery } from '../../api/users.ts';

/** E-mails to administrators link to `?view=waiting`. */
export const viewParameter = 'view';
export const searchParameter = 'q';

export function userQueryOf(address: URLSearchParams): UserQuery {
  const page = Number(address.get('page'));
  return {
    search: address.get(searchParameter)?.trim() ?? '',
    status: Status.safeParse(address.get('status')).data ?? null,
    role: Role.safeParse(address.get('role')).data ?? null,
    sort: UserSort.safeParse(address.get('sort')).data ?? 'newest',
    page: Number.isSafeInteger(page) && page > 1 ? page : 1,
  };
}

/** Values that are the usual ones stay out of the address. */
export function addressOf({ search, status, role, sort, page }: UserQuery): URLSearchParams {
  return new URLSearchParams({
    ...(search !== '' && { [searchParameter]: search }),
    ...(status !== null && { status }),
    ...(role !== null && { role }),
    ...(sort !== 'newest' && { sort }),
    ...(page > 1 && { page: String(page) }),
  });
}
