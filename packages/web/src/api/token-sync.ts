/**
 * Optional: notifies an address of this deployment of the current token (specification, section 7).
 * Only addresses of the same origin are used, and failures are ignored.
 */
import { settings } from '../browser/settings.ts';

const oldestTokenMs = 300_000;

/** @param obtainedAt milliseconds since the epoch; a computer may sleep between a sign-in's two steps */
export function syncToken(token: string, obtainedAt: number): void {
  if (Date.now() - obtainedAt > oldestTokenMs) return;
  tell({ method: 'POST', headers: { Authorization: `Bearer ${token}` } });
}

export function syncEndedToken(): void {
  tell({ method: 'DELETE' });
}

function tell(request: RequestInit): void {
  if (settings.tokenSyncUrl === null) return;
  const url = new URL(settings.tokenSyncUrl, location.href);
  if (url.origin !== location.origin) return;
  fetch(url, request).catch((error: unknown) => {
    console.warn('The token sync request failed.', error);
  });
}
