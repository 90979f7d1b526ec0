/** What the browser keeps of a sign-in, under the two keys the specification names. */
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

/** Null when nobody is signed in; data that cannot be read is removed. */
export function readStoredSignIn(): StoredSignIn | null {
  const token = storedToken();
  const text = localStorage.getItem(userKey);
  if (token === null && text === null) return null;
  try {
    if (!token) throw new Error('no token beside the user');
    return { token, user: User.parse(JSON.parse(text ?? '')) };
  } catch {
    clearStoredSignIn(); // unparsable stored data ends the sign-in, as the specification says
    return null;
  }
}

/** The user goes first: another tab that sees the new token finds its user beside it. */
export function storeSignIn({ token, user }: StoredSignIn): void {
  localStorage.setItem(userKey, JSON.stringify(user));
  localStorage.setItem(tokenKey, token);
}

export function clearStoredSignIn(): void {
  localStorage.removeItem(tokenKey);
  localStorage.removeItem(userKey);
}
