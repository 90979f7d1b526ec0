/**
 * The image session: permission to load pixels until it expires.
 *
 * Created at the first use, shared by all concurrent callers, renewed before it
 * expires, and revoked when the viewer is left. Its age is measured on the monotonic clock from the
 * request, so that a wrong or changed computer clock neither keeps an expired session
 * nor discards a valid one.
 */
import { createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { addressOf, call, readingCallsSignal } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

const renewalMarginMs = 5 * 60_000;
/** After a failed early renewal, the next attempt waits this long. */
const renewalPauseMs = 30_000;
/** After a failed creation, all callers get the same error for this long: tiles request sessions in large numbers. */
const failurePauseMs = 2000;
const statsRefreshMs = 30_000;

export interface ImageSessionState {
  /** `error`: the last creation failed. `inactive`: there is no session. */
  readonly status: 'inactive' | 'refreshing' | 'active' | 'error';
  /** The current session; null while there is none. */
  readonly id: string | null;
}

export interface ImageSessions {
  /**
   * Returns the current session; creates one when there is none or the current one is due for renewal.
   *
   * @throws the error of the API call when there is no valid session and none can be created
   */
  get(): Promise<string>;
  /** Replaces a session that the server has rejected; callers that report the same one share the new session. */
  replaceRejected(rejectedId: string): Promise<string>;
  /** Creates a new session even if the current one is still valid. */
  refresh(): Promise<string>;
  /**
   * Registers an open viewer. Sessions are revoked when the last viewer is closed, and when the
   * page is left.
   *
   * @returns a function that unregisters the viewer
   */
  registerViewer(): () => void;
  state(): ImageSessionState;
  /** @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void;
}

interface LiveSession {
  readonly id: string;
  /** Both in milliseconds of performance.now(). */
  readonly renewAt: number;
  readonly endsAt: number;
}

export function createSessionStore(): ImageSessions {
  let live: LiveSession | null = null;
  let failure: { readonly error: unknown; readonly at: number } | null = null;
  let pending: Promise<string> | null = null;
  /** All created sessions that are not revoked: a replaced session may still be in use for tiles. */
  const created = new Set<string>();
  /** Increases when all sessions are revoked, so that a session that is still being created is revoked too. */
  let era = 0;
  let openViewers = 0;
  let expiry: ReturnType<typeof setTimeout> | undefined;
  let state: ImageSessionState = { status: 'inactive', id: null };
  const listeners = new Set<() => void>();

  function updateState() {
    if (live !== null && performance.now() >= live.endsAt) live = null;
    const status =
      pending !== null ? 'refreshing' : failure !== null ? 'error' : live !== null ? 'active' : 'inactive';
    const id = live?.id ?? null;
    if (state.status === status && state.id === id) return;
    state = { status, id };
    for (const listener of listeners) listener();
  }

  function create(): Promise<string> {
    if (pending !== null) return pending;
    const request = requestSession(era).finally(() => {
      if (pending === request) pending = null;
      updateState();
    });
    pending = request;
    updateState();
    return request;
  }

  async function createUnlessJustFailed(): Promise<string> {
    if (failure !== null && performance.now() < failure.at + failurePauseMs) throw failure.error;
    return create();
  }

  async function requestSession(eraAtStart: number): Promise<string> {
    const askedAt = performance.now();
    try {
      const { session_id: id, expires_in: seconds } = await call(createImageSession, {
        signal: readingCallsSignal(), // the server refuses it to a sign-in that has ended
      });
      if (eraAtStart !== era) {
        // The viewer was closed meanwhile: the tiles that wait for the session are not drawn.
        revoke(id);
        return id;
      }
      const lifeMs = seconds * 1000;
      // A session shorter than the margin is used for half its life: otherwise every tile would create a new one.
      const marginMs = lifeMs > renewalMarginMs ? renewalMarginMs : lifeMs / 2;
      live = { id, renewAt: askedAt + lifeMs - marginMs, endsAt: askedAt + lifeMs };
      failure = null;
      created.add(id);
      clearTimeout(expiry);
      expiry = setTimeout(updateState, lifeMs);
      return id;
    } catch (error) {
      if (eraAtStart === era) failure = { error, at: performance.now() };
      throw error;
    }
  }

  async function get(): Promise<string> {
    if (live !== null && performance.now() < live.renewAt) return live.id;
    try {
      return await createUnlessJustFailed();
    } catch (error) {
      if (live === null || performance.now() >= live.endsAt) throw error;
      live = { ...live, renewAt: performance.now() + renewalPauseMs };
      return live.id;
    }
  }

  function replaceRejected(rejectedId: string): Promise<string> {
    if (live !== null && live.id !== rejectedId) return Promise.resolve(live.id);
    created.delete(rejectedId);
    live = null;
    return createUnlessJustFailed();
  }

  function revokeAll() {
    era += 1;
    pending = null;
    clearTimeout(expiry);
    for (const id of created) revoke(id);
    created.clear();
    live = null;
    failure = null;
    updateState();
  }

  function registerViewer(): () => void {
    if (openViewers === 0) window.addEventListener('pagehide', revokeAll);
    openViewers += 1;
    return () => {
      openViewers -= 1;
      // A viewer that is closed and opened again at once keeps its session.
      setTimeout(() => {
        if (openViewers > 0) return;
        window.removeEventListener('pagehide', revokeAll);
        revokeAll();
      });
    };
  }

  return {
    get,
    replaceRejected,
    refresh: create,
    registerViewer,
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Revokes without `call`: `keepalive` lets the request outlive the page. If it is
 * lost, the session expires by itself.
 */
function revoke(id: string): void {
  const token = storedToken();
  if (token === null) return; // signing out has revoked it
  void fetch(addressOf(deleteImageSession, { sessionId: id }), {
    method: deleteImageSession.method,
    headers: { Authorization: `Bearer ${token}` },
    keepalive: true,
  }).catch(() => undefined);
}

/** The image sessions of this tab. */
export const imageSessions = createSessionStore();

export function useImageSession(): ImageSessionState {
  return useSyncExternalStore(imageSessions.subscribe, imageSessions.state);
}

/**
 * Returns the usage of the account's own image sessions, updated every 30 s while the page is visible.
 *
 * @param session the current session; a new one updates the list at once
 */
export function useImageSessionStats(session: string | null) {
  return useQuery({
    queryKey: ['image-session-stats', session],
    queryFn: ({ signal }) => call(getImageSessionStats, { signal }),
    refetchInterval: statsRefreshMs,
  });
}
