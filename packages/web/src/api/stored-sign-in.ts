/** The sign-in in the browser's localStorage. docs/requirements.md (SIGN-10) prescribes its two keys. */
import { User } from '@lamina/contract';

export const tokenKey = 'auth_token';
const userKey = 'user_data';

export interface StoredSignIn {
  readonly token: string;
  readonly user: User;
}

/** Returns the stored bearer token; null when no user is signed in. */
export function storedToken(): string | null {
  return localStorage.getItem(tokenKey);
}

/** Returns the stored sign-in; null when no user is signed in. Removes incomplete or invalid data, which counts as signed out. */
export function readStoredSignIn(): StoredSignIn | null {
  const token = storedToken();
  const text = localStorage.getItem(userKey);
  if (token === null && text === null) return null;
  try {
    if (!token) throw new Error('The stored user has no token.');
    return { token, user: User.parse(JSON.parse(text ?? '')) }; // '' is invalid JSON: a missing user throws
  } catch {
    clearStoredSignIn();
    return null;
  }
}

/** Stores a sign-in. The user is written first, because other tabs react to the token and then read the user. */
export function storeSignIn({ token, user }: StoredSignIn): void {
  localStorage.setItem(userKey, JSON.stringify(user));
  localStorage.setItem(tokenKey, token);
}

export function clearStoredSignIn(): void {
  localStorage.removeItem(tokenKey);
  localStorage.removeItem(userKey);
}
