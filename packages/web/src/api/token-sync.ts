/**
 * Token synchronisation: the app sends the current bearer token to the URL in the setting `tokenSyncUrl`, if the deployment has one
 * (docs/requirements.md, SIGN-12). The app ignores a URL of another origin. It logs failed requests and does not repeat them.
 */
import { settings } from '../browser/settings.ts';

/** Older tokens are not sent (SIGN-12). A token is older, for example, if the computer slept while the API verified the sign-in. */
const maxTokenAgeMs = 300_000;

/** Sends a new token. @param obtainedAt when the token was obtained, in milliseconds since the epoch */
export function syncToken(token: string, obtainedAt: number): void {
  if (Date.now() - obtainedAt > maxTokenAgeMs) return;
  sendSync({ method: 'POST', headers: { Authorization: `Bearer ${token}` } });
}

/** Reports that the sign-in has ended. */
export function syncEndedToken(): void {
  sendSync({ method: 'DELETE' });
}

function sendSync(request: RequestInit): void {
  if (settings.tokenSyncUrl === null) return;
  const url = new URL(settings.tokenSyncUrl, location.href);
  if (url.origin !== location.origin) return;
  fetch(url, request).catch((error: unknown) => {
    console.warn('Token sync request failed.', error);
  });
}
