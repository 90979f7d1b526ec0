import { useCallback, useEffect, useRef } from 'react';
import { fetchSharedSlideStatus, type OpenedLink, openLink } from '../../api/share-links.ts';
import { useStateAcrossLanguages } from '../../language/use-state-across-languages.ts';
import { preloadTour } from '../../viewer/tour/Tour.tsx';
import { itemOfStep, itemsAfterOpening, type ShownItem, withoutSlide } from './shown-items.ts';

/**
 * State of a share link (a URL that shows slides to visitors without an account): `opening` waits for the server, `password` asks for the
 * password of the link, and `ended` means that the link has expired, was revoked, or opens no slide any more.
 */
export type SharedLinkState =
  | { readonly kind: 'opening' }
  // `message`: why the password was not accepted; null before the first attempt
  | { readonly kind: 'password'; readonly message: string | null }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'open'; readonly link: OpenedLink; readonly items: readonly ShownItem[] };

/** Interval at which the hook checks whether the link has ended. When the link has ended, the page closes the slide. */
const checkIntervalMs = 700;
/** The hook renews the session (by opening the link again) this long before its end, but not in the first half of its duration. */
const renewalMarginMs = 30_000;
/** Pause before the next attempt when the renewal of the session has failed. */
const renewalRetryMs = 5000;
/** Precision of `expires_in`, which is a whole number of seconds. */
const precisionMs = 1000;

interface SharedLink {
  readonly state: SharedLinkState;
  readonly submitPassword: (password: string) => Promise<void>;
  readonly retry: () => Promise<void>;
}

/** Mutable state for the renewal of the session. */
interface Renewal {
  /** The entered password, which later openings of the link send again; undefined before the user has entered one. */
  password: string | undefined;
  /** The session of the last opening, which proves to the server that a renewal is no new opening; undefined before the first one. */
  sessionId: string | undefined;
  /** End of the session, and when to renew it, in ms on the clock of `elapsedMs`. */
  endMs: number;
  renewAtMs: number;
}

/**
 * Returns the ms since the page was loaded. `performance.now()` alone may leave out the time in which the computer was asleep, and
 * `Date.now()` alone may be set back.
 */
function elapsedMs(): number {
  return Math.max(performance.now(), Date.now() - performance.timeOrigin);
}

/**
 * Opens a share link, renews its session (the credential with which the browser loads tiles), and reports when the link has ended.
 * The server counts the openings, and a link may have a maximum. A renewal presents the session and is not counted. A change of the
 * language does not open the link again if it is open or has ended.
 *
 * @param secret the part of the URL after `#`
 * @param stepIndex index of the shown item; the checks request its slide to find out whether the link or its access to the slide has ended
 */
export function useSharedLink(secret: string, stepIndex: number): SharedLink {
  const [state, setState] = useStateAcrossLanguages<SharedLinkState>(`share link ${secret}`, {
    kind: 'opening',
  });
  const [keptRenewal] = useStateAcrossLanguages<Renewal>(`renewal of share link ${secret}`, () => ({
    password: undefined,
    sessionId: undefined,
    endMs: 0,
    renewAtMs: 0,
  }));
  const renewal = useRef(keptRenewal); // a ref, because the fields of this object are assigned directly
  /** True if the link was open or had ended when a change of the language remounted the page. */
  const wasOpenOrEnded = useRef(state.kind === 'open' || state.kind === 'ended');
  /** Number of the latest attempt to open the link; the results of earlier attempts are ignored. */
  const latestAttempt = useRef(0);

  const open = useCallback(async () => {
    latestAttempt.current += 1;
    const attempt = latestAttempt.current;
    const { password, sessionId } = renewal.current;
    const result = await openLink({ secret, password, sessionId });
    if (attempt !== latestAttempt.current) return; // a newer attempt has started, or the user has left the page
    if (!('error' in result)) {
      const durationMs = result.expires_in * 1000;
      const endMs = elapsedMs() + durationMs;
      // A session ends with its link at the latest. If the new session ends no later than the previous one, no renewal can extend it.
      const isLastSession = endMs <= renewal.current.endMs + precisionMs;
      renewal.current.sessionId = result.session_id;
      renewal.current.endMs = endMs;
      renewal.current.renewAtMs = isLastSession
        ? Number.POSITIVE_INFINITY
        : endMs - Math.min(renewalMarginMs, durationMs / 2);
      await preloadTour().catch(() => undefined); // after a failure, the tour itself loads the script again and shows the error
      if (attempt !== latestAttempt.current) return;
      setState((current) => ({
        kind: 'open',
        link: result,
        items: itemsAfterOpening(current.kind === 'open' ? current.items : [], result.items),
      }));
    } else if (result.error === 'not_found') setState({ kind: 'ended' });
    else if (result.error === 'password_required') setState({ kind: 'password', message: null });
    else if (result.error === 'password_invalid') {
      renewal.current.password = undefined;
      setState({ kind: 'password', message: result.message });
    } else {
      renewal.current.renewAtMs = elapsedMs() + renewalRetryMs;
      // The failed renewal of a session that is still valid is retried, and the slides stay open meanwhile.
      const isSessionValid = elapsedMs() < renewal.current.endMs;
      const failed = { kind: 'failed', message: result.message } as const;
      setState((current) => (current.kind === 'open' && isSessionValid ? current : failed));
    }
  }, [secret, setState]);

  useEffect(() => {
    if (!wasOpenOrEnded.current) void open();
    return () => {
      latestAttempt.current += 1; // ignores the result of a running attempt
    };
  }, [open]);

  const sessionId = state.kind === 'open' ? state.link.session_id : null;
  const imageId = state.kind === 'open' ? checkedImageId(state.items, stepIndex) : null;
  useEffect(() => {
    if (sessionId === null || imageId === null) return;
    let isCancelled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function check(checkedSession: string, checkedImage: string) {
      if (elapsedMs() > renewal.current.renewAtMs) await open();
      else if (!document.hidden) {
        const status = await fetchSharedSlideStatus(checkedImage, checkedSession);
        if (isCancelled) return;
        if (status === 401) setState({ kind: 'ended' }); // the link and its session have ended
        if (status === 404) setState((current) => stateWithoutSlide(current, checkedImage));
      }
      if (!isCancelled) timer = setTimeout(() => void check(checkedSession, checkedImage), checkIntervalMs);
    }
    timer = setTimeout(() => void check(sessionId, imageId), checkIntervalMs);
    return () => {
      isCancelled = true;
      clearTimeout(timer);
    };
  }, [sessionId, imageId, open, setState]);

  return {
    state,
    submitPassword: (enteredPassword) => {
      renewal.current.password = enteredPassword;
      return open();
    },
    retry: open,
  };
}

/** Returns the id of the slide to check: that of the step, or of the first available item if that of the step is not available. */
function checkedImageId(items: readonly ShownItem[], stepIndex: number): string | null {
  const item = itemOfStep(items, stepIndex);
  const checkedItem = item?.isAvailable ? item : items.find(({ isAvailable }) => isAvailable);
  return checkedItem?.image_id ?? null;
}

/** Returns the state after the server has stated that the link does not open this slide. */
function stateWithoutSlide(state: SharedLinkState, imageId: string): SharedLinkState {
  if (state.kind !== 'open') return state;
  const items = withoutSlide(state.items, imageId);
  return items.some(({ isAvailable }) => isAvailable) ? { ...state, items } : { kind: 'ended' };
}
