/** The current sign-in, for the whole app. Only `auth.ts` changes it. */
import type { User } from '@lamina/contract';
import { useSyncExternalStore } from 'react';

export interface AuthState {
  readonly user: User | null; // null while no sign-in is known
  readonly token: string | null; // the bearer token; null without `user`
  /** Whether the API has accepted the token, or could not verify it (for example, because it did not respond). */
  readonly isAuthenticated: boolean;
  /** Whether a sign-in or the verification of the stored token is running. */
  readonly loading: boolean;
  /** Message of the last failed sign-in or verification; null after a success and during an attempt. */
  readonly error: string | null;
}

export const signedOut: AuthState = {
  user: null,
  token: null,
  isAuthenticated: false,
  loading: false,
  error: null,
};

let state = signedOut;
const listeners = new Set<() => void>();

export function authState(): AuthState {
  return state;
}

export function setAuthState(change: Partial<AuthState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

function onAuthChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the current sign-in and renders the component again when it changes. */
export function useAuth(): AuthState {
  return useSyncExternalStore(onAuthChange, authState);
}
