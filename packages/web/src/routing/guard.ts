/** Which screens a person may open. Only a convenience: the server checks every call. */
import { may } from '@lamina/contract';
import type { AuthState } from '../api/auth-state.ts';

/**
 * - `anyone`: everyone, signed in or not
 * - `guests`: visitors who are not signed in
 * - `signed-in`: with any status
 * - `active`: signed in, status active
 * - `admin`: active, role admin
 */
export type RouteAccess = 'anyone' | 'guests' | 'signed-in' | 'active' | 'admin';

const openToBlocked: readonly string[] = ['/account-status', '/auth/login'];

/** Returns the redirect target instead of `pathname`; null when the person may stay. */
export function redirectFor(
  access: RouteAccess,
  pathname: string,
  { user, isAuthenticated }: Pick<AuthState, 'user' | 'isAuthenticated'>,
): string | null {
  if (!isAuthenticated || user === null) {
    return access === 'anyone' || access === 'guests' ? null : '/auth/login';
  }
  if (user.status !== 'active') {
    return openToBlocked.includes(withoutTrailingSlash(pathname)) ? null : '/account-status';
  }
  if (access === 'guests') return '/dashboard';
  if (access === 'admin' && !may(user, 'users.manage')) return '/dashboard';
  return null;
}

function withoutTrailingSlash(pathname: string): string {
  return pathname.replace(/(?<=.)\/+$/, '');
}
