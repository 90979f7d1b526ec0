/**
 * The image session of the signed-in account: the credential with which the page loads pixels until it expires. (A visitor of a share
 * link has an image session of the link instead, which `openLink` in share-links.ts returns.)
 *
 * The session is created at the first use, shared by all callers, renewed before it expires, and revoked when the viewer is closed.
 * Its age is measured with the monotonic clock from the time of the request, so that a wrong or changed computer clock neither keeps
 * an expired session nor discards a valid one.
 */
import { createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { call, endpointUrl, signOutSignal } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

/** A session is renewed this long before its expiry. */
const renewalMarginMs = 5 * 60_000;
/** Delay before the next attempt after a failed renewal, while the current session is still valid. */
const renewalPauseMs = 30_000;
/** For this time, all callers get the error of a failed creation: hundreds of tiles may request a session together. */
const failurePauseMs = 2000;
const statsRefreshMs = 30_000;

export interface ImageSessionState {
  /** `refreshing`: the page creates a session; `error`: the last creation failed, but an older session may be valid. */
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
  /** Replaces a session that the server has rejected. Callers that report the same session get the same new session. */
  replaceRejected(rejectedId: string): Promise<string>;
  /** Creates a new session even if the current one is still valid. While a creation is running, returns the session of this creation. */
  refresh(): Promise<string>;
  /**
   * Registers an open viewer (any screen that shows pixels). All sessions are revoked when the last viewer is closed, and when the user
   * leaves the page.
   *
   * @returns a function that unregisters the viewer
   */
  registerViewer(): () => void;
  state(): ImageSessionState;
  subscribe(listener: () => void): () => void;
}

interface CurrentSession {
  readonly id: string;
  /** Times in milliseconds of `performance.now()`. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Creates the store of the image sessions of one tab. The app has one, `imageSessions` below; tests create their own. */
export function createSessionStore(): ImageSessions {
  let current: CurrentSession | null = null;
  /** The last failed creation; null after a success. `at` is the time of `performance.now()`. */
  let failure: { readonly error: unknown; readonly at: number } | null = null;
  /** The running creation, which all callers share. */
  let pending: Promise<string> | null = null;
  /** Ids of all sessions that are not revoked yet; tiles may still use a session that was replaced. */
  const unrevokedIds = new Set<string>();
  /** Number of calls of `revokeAll`. A session whose creation began before the last call is revoked as soon as it is created. */
  let revocations = 0;
  let openViewers = 0;
  let expiryTimer: ReturnType<typeof setTimeout> | undefined;
  let state: ImageSessionState = { status: 'inactive', id: null };
  const listeners = new Set<() => void>();

  function updateState() {
    if (current !== null && performance.now() >= current.expiresAt) current = null;
    const status = currentStatus();
    const id = current?.id ?? null;
    if (state.status === status && state.id === id) return;
    state = { status, id };
    for (const listener of listeners) listener();
  }

  function currentStatus(): ImageSessionState['status'] {
    if (pending !== null) return 'refreshing';
    if (failure !== null) return 'error';
    return current !== null ? 'active' : 'inactive';
  }

  function create(): Promise<string> {
    if (pending !== null) return pending;
    const request = requestSession(revocations).finally(() => {
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

  async function requestSession(revocationsAtStart: number): Promise<string> {
    const requestedAt = performance.now();
    try {
      const { session_id: id, expires_in: seconds } = await call(createImageSession, {
        signal: signOutSignal(), // aborted at sign-out, after which the server would reject the call
      });
      if (revocationsAtStart !== revocations) {
        // The viewer was closed in the meantime, so tiles that waited for this session will not be drawn.
        revokeSession(id);
        return id;
      }
      const lifetimeMs = seconds * 1000;
      // A session that does not live longer than the margin is renewed after half of its lifetime. Without this rule,
      // it would be due for renewal immediately, and every tile would create a session.
      const marginMs = lifetimeMs > renewalMarginMs ? renewalMarginMs : lifetimeMs / 2;
      current = { id, renewAt: requestedAt + lifetimeMs - marginMs, expiresAt: requestedAt + lifetimeMs };
      failure = null;
      unrevokedIds.add(id);
      clearTimeout(expiryTimer);
      expiryTimer = setTimeout(updateState, lifetimeMs);
      return id;
    } catch (error) {
      if (revocationsAtStart === revocations) failure = { error, at: performance.now() };
      throw error;
    }
  }

  async function get(): Promise<string> {
    if (current !== null && performance.now() < current.renewAt) return current.id;
    try {
      return await createUnlessJustFailed();
    } catch (error) {
      if (current === null || performance.now() >= current.expiresAt) throw error;
      current = { ...current, renewAt: performance.now() + renewalPauseMs };
      return current.id;
    }
  }

  function replaceRejected(rejectedId: string): Promise<string> {
    if (current !== null && current.id !== rejectedId) return Promise.resolve(current.id);
    unrevokedIds.delete(rejectedId); // the server has already ended it
    current = null;
    return createUnlessJustFailed();
  }

  function revokeAll() {
    revocations += 1;
    pending = null;
    clearTimeout(expiryTimer);
    for (const id of unrevokedIds) revokeSession(id);
    unrevokedIds.clear();
    current = null;
    failure = null;
    updateState();
  }

  function registerViewer(): () => void {
    if (openViewers === 0) window.addEventListener('pagehide', revokeAll);
    openViewers += 1;
    return () => {
      openViewers -= 1;
      // Waits for the next task, so that a viewer that is closed and immediately opened again keeps its session.
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
 * Revokes a session with `fetch` instead of `call`, because its option `keepalive` lets the request outlive the page. If the request is
 * lost, the session ends when it expires.
 */
function revokeSession(id: string): void {
  const token = storedToken();
  if (token === null) return; // the user has signed out, which revokes all sessions
  void fetch(endpointUrl(deleteImageSession, { sessionId: id }), {
    method: deleteImageSession.method,
    headers: { Authorization: `Bearer ${token}` },
    keepalive: true,
  }).catch(() => undefined);
}

/** The image sessions of this tab. */
export const imageSessions = createSessionStore();

/** Returns the state of the image session and renders the component again when the state changes. */
export function useImageSession(): ImageSessionState {
  return useSyncExternalStore(imageSessions.subscribe, imageSessions.state);
}

/**
 * Returns the usage of the account's own image sessions, updated every 30 s while the page is visible.
 *
 * @param session the current session; a new one updates the list immediately
 */
export function useImageSessionStats(session: string | null) {
  return useQuery({
    queryKey: ['image-session-stats', session],
    queryFn: ({ signal }) => call(getImageSessionStats, { signal }),
    refetchInterval: statsRefreshMs,
  });
}
