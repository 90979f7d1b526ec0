/** Sign-in and sign-out. This module keeps the sign-in of this browser in the browser's storage and in the state of the app. */
import {
  AppError,
  checkPasswordReset,
  confirmPasswordReset,
  confirmRegistration as confirmRegistrationEndpoint,
  register as registerEndpoint,
  requestPasswordReset as requestPasswordResetEndpoint,
  signOut,
  type User,
  verifyToken,
} from '@lamina/contract';
import { z } from 'zod';
import { forgetLinkedSlide } from '../browser/linked-slide.ts';
import type { ActionResult } from '../notifications/action-result.ts';
import { authState, setAuthState, signedOut } from './auth-state.ts';
import {
  abortCallsAtSignOut,
  call,
  codeOf,
  fieldOf,
  messageOf,
  onSignInEnded,
  UnexpectedResponseError,
} from './client.ts';
import { completeExternalSignIn, ExternalSignInError } from './external-sign-in.ts';
import { queryClient } from './query-client.ts';
import { identityTokenFor } from './sign-in-service.ts';
import { clearStoredSignIn, readStoredSignIn, storedToken, storeSignIn, tokenKey } from './stored-sign-in.ts';
import { texts } from './texts.ts';
import { syncEndedToken, syncToken } from './token-sync.ts';

let notifySignInLost: () => void = () => {}; // set by `onSignInLost`

/** Sets the listener that is called when the API has ended the sign-in and this module has removed the stored sign-in. */
export function onSignInLost(listener: () => void): void {
  notifySignInLost = listener;
}

/**
 * Updates the sign-in when the API responds with 401, and when another tab signs in or out.
 *
 * @returns a function that unsubscribes
 */
export function connectAuth(): () => void {
  onSignInEnded((token) => {
    // A late response to a call of an earlier sign-in does not concern the current one.
    if (token !== authState().token) return;
    clearSignIn();
    notifySignInLost();
  });
  window.addEventListener('storage', followOtherTab);
  return () => window.removeEventListener('storage', followOtherTab);
}

/** Applies a sign-in or sign-out of another tab to this tab. */
function followOtherTab(event: StorageEvent): void {
  const concernsSignIn = event.key === tokenKey || event.key === null; // null: the other tab cleared the storage
  if (!concernsSignIn || storedToken() === authState().token) return;
  queryClient.clear();
  setAuthState(signedOut);
  void initialiseAuth();
}

/**
 * Restores the stored sign-in and verifies it with the API. Does nothing when no sign-in is stored, or while a user is
 * signed in or signing in.
 *
 * A rejected token ends the sign-in. When the API cannot verify the token (for example: no response, 429 or 5xx), the stored user stays
 * signed in: an outage must not sign people out, and the server checks every call anyway.
 */
export async function initialiseAuth(): Promise<void> {
  if (authState().isAuthenticated || authState().loading) return;
  const stored = readStoredSignIn();
  if (stored === null) return;
  setAuthState({ ...stored, loading: true, error: null });
  try {
    const verified = await verify({ token: stored.token });
    if (isReplacedByOtherTab(stored.token)) return;
    // Reports the new token to `tokenSyncUrl`, if the deployment has set this URL (token-sync.ts).
    if (verified.token !== stored.token) syncToken(verified.token, Date.now());
    storeSignIn(verified);
    setAuthState({ ...verified, isAuthenticated: true, loading: false, error: null });
  } catch (error) {
    if (isReplacedByOtherTab(stored.token)) return;
    if (isRejectedToken(error)) {
      clearSignIn();
      setAuthState({ error: verificationFailureOf(error) });
      notifySignInLost();
    } else {
      setAuthState({ isAuthenticated: true, loading: false, error: verificationFailureOf(error) });
    }
  }
}

/**
 * Exchanges an identity token, or a stored bearer token, for the account and its bearer token. When the response has no `token`, the
 * token that was sent is the bearer token.
 */
async function verify(body: { readonly token: string; readonly nonce?: string }) {
  const { user, token = body.token } = await call(verifyToken, { body });
  return { user, token };
}

/** Returns whether another tab signed in or out during the verification. In this case, `followOtherTab` updates the state. */
function isReplacedByOtherTab(token: string): boolean {
  return authState().token !== token || storedToken() !== token;
}

/** Returns whether the API rejected the token, or its response contains no user. */
function isRejectedToken(error: unknown): boolean {
  if (error instanceof AppError) return error.status < 500 && error.code !== 'rate_limited';
  if (error instanceof UnexpectedResponseError) return error.status === 401;
  return error instanceof z.ZodError;
}

function verificationFailureOf(error: unknown): string {
  return isRejectedToken(error) ? texts.tokenInvalid : texts.tokenUnverifiable;
}

/** Signs in with e-mail and password. @param code second-factor code; empty unless the API requires it (`second_factor_required`) */
export async function login(email: string, password: string, code = ''): Promise<ActionResult> {
  return signInWith(async () => ({ token: await identityTokenFor(email, password, code) }));
}

/** Completes a sign-in with an external service. @param search the query with which the service redirected back */
export async function loginExternally(search: string): Promise<ActionResult> {
  return signInWith(() => completeExternalSignIn(search));
}

/** Exchanges the identity token of a sign-in service for a sign-in and stores the sign-in. */
async function signInWith(
  obtainIdentityToken: () => Promise<{ readonly token: string; readonly nonce?: string }>,
): Promise<ActionResult> {
  setAuthState({ loading: true, error: null });
  /** Whether the sign-in service has accepted the user's input: a later failure then concerns the verification of the token. */
  let isVerifying = false;
  try {
    const tokenAndNonce = await obtainIdentityToken();
    const obtainedAt = Date.now();
    isVerifying = true;
    const verified = await verify(tokenAndNonce);
    queryClient.clear();
    storeSignIn(verified);
    setAuthState({ ...verified, isAuthenticated: true, loading: false, error: null });
    syncToken(verified.token, obtainedAt);
    return { success: true, message: texts.loginDone };
  } catch (error) {
    const fallback = isVerifying ? verificationFailureOf(error) : texts.loginFailed;
    const message = error instanceof ExternalSignInError ? error.message : messageOf(error, fallback);
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

/** Registers an account. Empty optional fields are omitted from the request. */
export async function register({ email, password, ...optionalFields }: Registration): Promise<ActionResult> {
  try {
    const filledFields = Object.fromEntries(Object.entries(optionalFields).filter(([, text]) => text !== ''));
    const body = { email, password, ...filledFields };
    const { message } = await call(registerEndpoint, { body });
    return { success: true, message: message || texts.registerDone };
  } catch (error) {
    if (isUnreadableSuccess(error)) return { success: true, message: texts.registerDone };
    const defaultMessage = error instanceof UnexpectedResponseError ? texts.registerFailed : texts.unexpected;
    return {
      success: false,
      message: messageOf(error, defaultMessage),
      error: codeOf(error),
      field: fieldOf(error),
    };
  }
}

/** Returns whether the server reported success with a response that violates the contract, such as one without a `message`. */
function isUnreadableSuccess(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError;
}

/** Confirms a registration. @param code from the link in the e-mail @param password that the user chose when registering */
export async function confirmRegistration(code: string, password: string): Promise<ActionResult> {
  try {
    const { message } = await call(confirmRegistrationEndpoint, { body: { code, password } });
    return { success: true, message: message || texts.registrationConfirmed };
  } catch (error) {
    if (isUnreadableSuccess(error)) return { success: true, message: texts.registrationConfirmed };
    return { success: false, message: messageOf(error, texts.unexpected), error: codeOf(error) };
  }
}

/** Signs out in this browser even when the call fails, in which case the server may still consider the sign-in valid. */
export async function logout(): Promise<ActionResult> {
  const allowCalls = abortCallsAtSignOut(); // aborts GET requests until `allowCalls` is called
  try {
    await call(signOut, {});
    return { success: true, message: texts.logoutDone };
  } catch (error) {
    // The server has already ended this sign-in: the user is signed out.
    if (error instanceof AppError && error.code === 'token_invalid') {
      return { success: true, message: texts.logoutDone };
    }
    return { success: false, message: texts.logoutFailed, error: codeOf(error) };
  } finally {
    clearSignIn();
    allowCalls();
  }
}

/** Requests an e-mail with a link to set a new password. */
export async function requestPasswordReset(email: string): Promise<ActionResult> {
  try {
    const { message } = await call(requestPasswordResetEndpoint, { body: { email } });
    return { success: true, message: message || texts.resetRequested };
  } catch (error) {
    if (isUnreadableSuccess(error)) return { success: true, message: texts.resetRequested };
    return { success: false, message: messageOf(error, texts.resetRequestFailed), error: codeOf(error) };
  }
}

/** Returns whether the server rejects the code of a reset link. Also returns false when the server is unreachable. */
export async function isResetLinkInvalid(code: string): Promise<boolean> {
  try {
    await call(checkPasswordReset, { body: { code } });
    return false;
  } catch (error) {
    return codeOf(error) === 'reset_link_invalid';
  }
}

/** Sets a new password with the code of a reset link. The server then ends all sign-ins of the account, so the stored one is removed. */
export async function setPasswordByCode(code: string, newPassword: string): Promise<ActionResult> {
  try {
    await call(confirmPasswordReset, { body: { code, new_password: newPassword } }).catch(
      (error: unknown) => {
        if (!isUnreadableSuccess(error)) throw error;
      },
    );
    clearSignIn();
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

/**
 * Replaces the data of the signed-in account in state and storage. Does nothing after another tab has signed in or out.
 */
export function refreshUser(user: User): void {
  const { token } = authState();
  if (token === null || token !== storedToken()) return;
  storeSignIn({ token, user });
  setAuthState({ user });
}

/** Removes the sign-in and all loaded data from this browser. */
export function clearSignIn(): void {
  const wasSignedIn = authState().token !== null;
  clearStoredSignIn();
  forgetLinkedSlide(); // the slide that the app would show after the next sign-in
  queryClient.clear();
  setAuthState(signedOut);
  if (wasSignedIn) syncEndedToken();
}
