/** Signing in and out: what changes the sign-in of this browser, and what is stored of it. */
import {
  AppError,
  confirmPasswordReset,
  register as registerEndpoint,
  requestPasswordReset as requestPasswordResetEndpoint,
  signOut,
  type User,
  verifyToken,
} from '@lamina/contract';
import { z } from 'zod';
import type { ActionResult } from './action-result.ts';
import { authState, setAuthState, signedOut } from './auth-state.ts';
import { call, codeOf, fieldOf, messageOf, onSignInEnded, UnexpectedAnswerError } from './client.ts';
import { ExternalSignInError, identityTokenOf } from './external-sign-in.ts';
import { queryClient } from './query-client.ts';
import { identityTokenFor } from './sign-in-service.ts';
import { clearStoredSignIn, readStoredSignIn, storedToken, storeSignIn, tokenKey } from './stored-sign-in.ts';
import { texts } from './texts.ts';
import { syncEndedToken, syncToken } from './token-sync.ts';

let sessionEnded: () => void = () => {};

/** Called when the API says that the sign-in is over, after everything of it has been removed. */
export function onSessionEnded(listener: () => void): void {
  sessionEnded = listener;
}

/**
 * Listens to what ends or replaces the sign-in from outside: an answer of the API, another tab.
 *
 * @returns a function that stops listening
 */
export function connectAuth(): () => void {
  onSignInEnded((token) => {
    // A late answer to a call of an earlier sign-in says nothing about this one.
    if (token !== authState().token) return;
    endSession();
    sessionEnded();
  });
  window.addEventListener('storage', followOtherTab);
  return () => window.removeEventListener('storage', followOtherTab);
}

function followOtherTab(event: StorageEvent): void {
  const isSignIn = event.key === tokenKey || event.key === null; // null: the other tab removed everything
  if (!isSignIn || storedToken() === authState().token) return;
  queryClient.clear();
  setAuthState(signedOut);
  void initialiseAuth();
}

/**
 * Takes up the stored sign-in and has the API verify it. Does nothing while someone is signed in.
 *
 * A token that the API refuses ends the sign-in. When the API cannot be asked, the stored user stays:
 * an outage signs nobody out, and every call is decided by the server anyway.
 */
export async function initialiseAuth(): Promise<void> {
  if (authState().isAuthenticated || authState().loading) return;
  const stored = readStoredSignIn();
  if (stored === null) return;
  setAuthState({ ...stored, loading: true, error: null });
  try {
    const verified = await call(verifyToken, { body: { token: stored.token } });
    if (isReplaced(stored.token)) return;
    if (verified.token !== stored.token) syncToken(verified.token, Date.now());
    storeSignIn(verified);
    setAuthState({ ...verified, isAuthenticated: true, loading: false, error: null });
  } catch (error) {
    if (isReplaced(stored.token)) return;
    if (isRefusedToken(error)) {
      endSession();
      setAuthState({ error: texts.tokenInvalid });
      sessionEnded();
    } else {
      setAuthState({ isAuthenticated: true, loading: false, error: texts.tokenUnverifiable });
    }
  }
}

/** Another tab signed in or out while the answer was on its way; `followOtherTab` takes that up. */
function isReplaced(token: string): boolean {
  return authState().token !== token || storedToken() !== token;
}

/** A refusal, or an answer without a user: both mean that nobody stands behind the token. */
function isRefusedToken(error: unknown): boolean {
  if (error instanceof AppError) return error.status < 500 && error.code !== 'rate_limited';
  if (error instanceof UnexpectedAnswerError) return error.status === 401;
  return error instanceof z.ZodError;
}

/** @param code of the second factor; empty unless the API asked for it (`second_factor_required`) */
export async function login(email: string, password: string, code = ''): Promise<ActionResult> {
  return takeUp(async () => ({ token: await identityTokenFor(email, password, code) }));
}

/** @param search the query of the address that the external sign-in service sent the browser back to */
export async function loginExternally(search: string): Promise<ActionResult> {
  return takeUp(() => identityTokenOf(search));
}

/** @param obtain an identity token of either sign-in service */
async function takeUp(
  obtain: () => Promise<{ readonly token: string; readonly nonce?: string }>,
): Promise<ActionResult> {
  setAuthState({ loading: true, error: null });
  try {
    const identityToken = await obtain();
    const obtainedAt = Date.now();
    const verified = await call(verifyToken, { body: identityToken });
    queryClient.clear();
    storeSignIn(verified);
    setAuthState({ ...verified, isAuthenticated: true, loading: false, error: null });
    syncToken(verified.token, obtainedAt);
    return { success: true, message: texts.loginDone };
  } catch (error) {
    const message =
      error instanceof ExternalSignInError ? error.message : messageOf(error, texts.loginFailed);
    setAuthState({ loading: false, error: message });
    return { success: false, message, error: codeOf(error) };
  }
}

interface Registration {
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
  readonly affiliation: string;
  readonly purpose: string;
}

/** The payload has no field that was left empty. */
export async function register({ email, password, ...said }: Registration): Promise<ActionResult> {
  try {
    const optional = Object.fromEntries(Object.entries(said).filter(([, text]) => text !== ''));
    const body = { email, password, ...optional };
    const { message } = await call(registerEndpoint, { body });
    return { success: true, message: message || texts.registerDone };
  } catch (error) {
    const otherwise = error instanceof UnexpectedAnswerError ? texts.registerFailed : texts.unexpected;
    return {
      success: false,
      message: messageOf(error, otherwise),
      error: codeOf(error),
      field: fieldOf(error),
    };
  }
}

/** Signed out here in any case; a failure says that the server may not know it yet. */
export async function logout(): Promise<ActionResult> {
  try {
    await call(signOut, {});
    return { success: true, message: texts.logoutDone };
  } catch (error) {
    // A sign-in that had ended before is as signed out as one can be.
    if (error instanceof AppError && error.code === 'token_invalid') {
      return { success: true, message: texts.logoutDone };
    }
    return { success: false, message: texts.logoutFailed, error: codeOf(error) };
  } finally {
    endSession();
  }
}

export async function requestPasswordReset(email: string): Promise<ActionResult> {
  try {
    const { message } = await call(requestPasswordResetEndpoint, { body: { email } });
    return { success: true, message: message || texts.resetRequested };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.resetRequestFailed), error: codeOf(error) };
  }
}

/** Every sign-in of the account ends with it, so the one of this browser is put away too. */
export async function setPasswordByCode(code: string, newPassword: string): Promise<ActionResult> {
  try {
    await call(confirmPasswordReset, { body: { code, new_password: newPassword } });
    endSession();
    return { success: true, message: texts.passwordChanged };
  } catch (error) {
    return {
      success: false,
      message: messageOf(error, texts.passwordFailed),
      error: codeOf(error),
      field: fieldOf(error),
    };
  }
}

/** A fresh copy of the account that is signed in. */
export function renewUser(user: User): void {
  const { token } = authState();
  if (token === null || token !== storedToken()) return;
  storeSignIn({ token, user });
  setAuthState({ user });
}

/** Removes everything of the sign-in from this browser. */
export function endSession(): void {
  const wasSignedIn = authState().token !== null;
  clearStoredSignIn();
  queryClient.clear();
  setAuthState(signedOut);
  if (wasSignedIn) syncEndedToken();
}
