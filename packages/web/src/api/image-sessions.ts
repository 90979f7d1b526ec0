/**
 * The image session: the permission to load pixels for a while.
 *
 * Made when somebody first needs it, shared by everyone who needs it at the same time, renewed before
 * it ends, and revoked when the viewer is left. Time is counted on the monotonic clock from the moment
 * the session was asked for, so that a wrong or changed computer clock neither keeps a dead session
 * nor throws a good one away.
 */
import { createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { addressOf, call } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

const renewalMarginMs = 5 * 60_000;
/** After a renewal ahead of time has failed, the old session serves this long before the next try. */
const renewalPauseMs = 30_000;
/** After no session could be made, everyone who needs one hears the same for this long: tiles come in dozens. */
const failurePauseMs = 2000;
const statsRefreshMs = 30_000;

export interface ImageSessionState {
  /** `error`: the last session could not be made. `inactive`: there is none. */
  readonly status: 'inactive' | 'refreshing' | 'active' | 'error';
  /** The session to load pixels with; null while there is none. */
  readonly id: string | null;
}

export interface ImageSessions {
  /**
   * The session to use now; a new one when there is none or less than 5 minutes of it remain.
   *
   * @throws what the call throws, when a session is needed and cannot be made
   */
  get(): Promise<string>;
  /** A new session in place of one the server has refused; one for all who were refused the same. */
  renew(refused: string): Promise<string>;
  /** A new session, whatever the state of the present one. */
  refresh(): Promise<string>;
  /**
   * Say that a viewer is open. Sessions are revoked when the last open viewer is left, and when the
   * page goes away.
   *
   * @returns a function that says the viewer was left
   */
  enter(): () => void;
  state(): ImageSessionState;
  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void;
}

interface LiveSession {
  readonly id: string;
  /** Both on the clock of performance.now(), milliseconds. */
  readonly renewAt: number;
  readonly endsAt: number;
}

export function createImageSessions(): ImageSessions {
  let live: LiveSession | null = null;
  let failure: { readonly error: unknown; readonly at: number } | null = null;
  let creating: Promise<string> | null = null;
  /** Everything made and not yet revoked: a session that was replaced may still carry tiles. */
  const made = new Set<string>();
  /** Rises when all sessions are given up, so that one still being made is given up too. */
  let era = 0;
  let openViewers = 0;
  let expiry: ReturnType<typeof setTimeout> | undefined;
  let state: ImageSessionState = { status: 'inactive', id: null };
  const listeners = new Set<() => void>();

  function publish() {
    if (live !== null && performance.now() >= live.endsAt) live = null;
    const status =
      creating !== null ? 'refreshing' : failure !== null ? 'error' : live !== null ? 'active' : 'inactive';
    const id = live?.id ?? null;
    if (state.status === status && state.id === id) return;
    state = { status, id };
    for (const listener of listeners) listener();
  }

  function create(): Promise<string> {
    if (creating !== null) return creating;
    const making = make(era).finally(() => {
      if (creating === making) creating = null;
      publish();
    });
    creating = making;
    publish();
    return making;
  }

  async function createUnlessJustFailed(): Promise<string> {
    if (failure !== null && performance.now() < failure.at + failurePauseMs) throw failure.error;
    return create();
  }

  async function make(startedIn: number): Promise<string> {
    const askedAt = performance.now();
    try {
      const { session_id: id, expires_in: seconds } = await call(createImageSession, {});
      if (startedIn !== era) {
        revoke(id);
        return id;
      }
      const lifeMs = seconds * 1000;
      // A session shorter than the margin lives to its half: else every tile would ask for a new one.
      const marginMs = lifeMs > renewalMarginMs ? renewalMarginMs : lifeMs / 2;
      live = { id, renewAt: askedAt + lifeMs - marginMs, endsAt: askedAt + lifeMs };
      failure = null;
      made.add(id);
      clearTimeout(expiry);
      expiry = setTimeout(publish, lifeMs);
      return id;
    } catch (error) {
      if (startedIn === era) failure = { error, at: performance.now() };
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

  function renew(refused: string): Promise<string> {
    if (live !== null && live.id !== refused) return Promise.resolve(live.id);
    made.delete(refused);
    live = null;
    return createUnlessJustFailed();
  }

  function giveUpAll() {
    era += 1;
    creating = null;
    clearTimeout(expiry);
    for (const id of made) revoke(id);
    made.clear();
    live = null;
    failure = null;
    publish();
  }

  function enter(): () => void {
    if (openViewers === 0) window.addEventListener('pagehide', giveUpAll);
    openViewers += 1;
    return () => {
      openViewers -= 1;
      // A viewer that is left and entered again in the same breath keeps its session.
      setTimeout(() => {
        if (openViewers > 0) return;
        window.removeEventListener('pagehide', giveUpAll);
        giveUpAll();
      });
    };
  }

  return {
    get,
    renew,
    refresh: create,
    enter,
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Not `call`: `keepalive` lets the request outlive the page, and nobody waits for the answer. Should it
 * get lost, the session ends at its time.
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

/** The one of this tab. */
export const imageSessions = createImageSessions();

export function useImageSession(): ImageSessionState {
  return useSyncExternalStore(imageSessions.subscribe, imageSessions.state);
}

/**
 * The account's own sessions, asked for again every 30 s while somebody looks.
 *
 * @param session the session of the moment; another one is asked about at once
 */
export function useImageSessionStats(session: string | null) {
  return useQuery({
    queryKey: ['image-session-stats', session],
    queryFn: ({ signal }) => call(getImageSessionStats, { signal }),
    refetchInterval: statsRefreshMs,
  });
}
