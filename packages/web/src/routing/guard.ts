/** The screens that a user may open. The guard only improves the interface: the server checks the rights of every call. */
import { may } from '@lamina/contract';
import type { AuthState } from '../api/auth-state.ts';

/**
 * Who may open a screen. Accounts that are not active may open only the screens in `openToInactiveAccounts`.
 *
 * - `anyone`: everyone, signed in or not
 * - `guests`: visitors who are not signed in
 * - `signed-in`: everyone with a sign-in
 * - `active`: accounts with the status active
 * - `admin`: active accounts with the role admin
 */
export type RouteAccess = 'anyone' | 'guests' | 'signed-in' | 'active' | 'admin';

/** Paths that signed-in accounts with a status other than active may open (docs/requirements.md, NAV-22); a share link needs no account. */
const openToInactiveAccounts: readonly string[] = ['/account-status', '/auth/login', '/shared'];

/** Returns the path to redirect to; null when the user may open `pathname`. */
export function redirectFor(
  access: RouteAccess,
  pathname: string,
  { user, isAuthenticated }: Pick<AuthState, 'user' | 'isAuthenticated'>,
): string | null {
  if (!isAuthenticated || user === null) {
    return access === 'anyone' || access === 'guests' ? null : '/auth/login';
  }
  if (user.status !== 'active') {
    return openToInactiveAccounts.includes(withoutTrailingSlash(pathname)) ? null : '/account-status';
  }
  if (access === 'guests') return '/dashboard';
  if (access === 'admin' && !may(user, 'users.manage')) return '/dashboard';
  return null;
}

/** Returns '/auth/login' for '/auth/login/', and '/' for '/'. */
function withoutTrailingSlash(pathname: string): string {
  return pathname.replace(/(?<=.)\/+$/, '');
}
