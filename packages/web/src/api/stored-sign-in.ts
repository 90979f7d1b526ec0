/** The stored sign-in of the browser, under the two keys of the specification. */
import { User } from '@lamina/contract';

export const tokenKey = 'auth_token';
const userKey = 'user_data';

export interface StoredSignIn {
  readonly token: string;
  readonly user: User;
}

export function storedToken(): string | null {
  return localStorage.getItem(tokenKey);
}

/** Returns null when no user is signed in; unreadable data is removed. */
export function readStoredSignIn(): StoredSignIn | null {
  const token = storedToken();
  const text = localStorage.getItem(userKey);
  if (token === null && text === null) return null;
  try {
    if (!token) throw new Error('no token beside the user');
    return { token, user: User.parse(JSON.parse(text ?? '')) };
  } catch {
    clearStoredSignIn(); // the specification: unreadable stored data ends the sign-in
    return null;
  }
}

/** Writes the user first: another tab that sees the new token finds its user. */
export function storeSignIn({ token, user }: StoredSignIn): void {
  localStorage.setItem(userKey, JSON.stringify(user));
  localStorage.setItem(tokenKey, token);
}

export function clearStoredSignIn(): void {
  localStorage.removeItem(tokenKey);
  localStorage.removeItem(userKey);
}
