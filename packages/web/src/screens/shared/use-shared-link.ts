import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchSharedSlideStatus, type OpenedLink, openLink } from '../../api/share-links.ts';
import { preloadTour } from '../../viewer/tour/Tour.tsx';

/**
 * State of a share link (a URL that shows slides to visitors without an account): `opening` waits for the server, `password` asks for the
 * password of the link, and `ended` means that the link has expired or was revoked.
 */
export type SharedLinkState =
  | { readonly kind: 'opening' }
  // `message`: why the password was not accepted; null before the first attempt
  | { readonly kind: 'password'; readonly message: string | null }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'open'; readonly link: OpenedLink };

/** Interval at which the hook checks whether the link has ended. When the link has ended, the page closes the slide. */
const checkIntervalMs = 700;
/** When the session ends within this time, the hook opens the link again, which creates a new session. */
const renewalMarginMs = 30_000;

interface SharedLink {
  readonly state: SharedLinkState;
  readonly submitPassword: (password: string) => Promise<void>;
  readonly retry: () => Promise<void>;
}

/**
 * Opens a share link, renews its session (the credential with which the browser loads tiles), and reports when the link has ended.
 *
 * @param secret the part of the URL after `#`
 * @param stepIndex index of the shown item; the checks request its slide to find out whether the link has ended
 */
export function useSharedLink(secret: string, stepIndex: number): SharedLink {
  const [state, setState] = useState<SharedLinkState>({ kind: 'opening' });
  /** The entered password, which later openings of the link send again; undefined before the user has entered one. */
  const password = useRef<string>(undefined);
  /** End of the session, in ms on the clock of `performance.now()`. */
  const sessionEndMs = useRef(0);
  /** Number of the latest attempt to open the link; the results of earlier attempts are ignored. */
  const latestAttempt = useRef(0);

  const open = useCallback(async () => {
    latestAttempt.current += 1;
    const attempt = latestAttempt.current;
    const result = await openLink(secret, password.current);
    if (attempt !== latestAttempt.current) return; // another attempt has started, or the user has left the page
    if (!('error' in result)) {
      sessionEndMs.current = performance.now() + result.expires_in * 1000; // `expires_in` is in seconds
      await preloadTour().catch(() => undefined); // after a failure, the tour itself loads the script again and shows the error
      if (attempt === latestAttempt.current) setState({ kind: 'open', link: result });
    } else if (result.error === 'not_found') setState({ kind: 'ended' });
    else if (result.error === 'password_required') setState({ kind: 'password', message: null });
    else if (result.error === 'password_invalid') setState({ kind: 'password', message: result.message });
    else setState({ kind: 'failed', message: result.message });
  }, [secret]);

  useEffect(() => {
    void open();
    return () => {
      latestAttempt.current += 1; // ignores the result of a running attempt
    };
  }, [open]);

  const session = state.kind === 'open' ? state.link.session_id : null;
  const imageId = state.kind === 'open' ? (state.link.items[stepIndex]?.image_id ?? null) : null;
  useEffect(() => {
    if (session === null || imageId === null) return;
    let isCancelled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function check(checkedSession: string, checkedImageId: string) {
      if (performance.now() > sessionEndMs.current - renewalMarginMs) await open();
      else if (!document.hidden) {
        const status = await fetchSharedSlideStatus(checkedImageId, checkedSession);
        // 401: the link and its session have ended. 404: the link no longer opens this slide.
        if (!isCancelled && (status === 401 || status === 404)) setState({ kind: 'ended' });
      }
      if (!isCancelled) timer = setTimeout(() => void check(checkedSession, checkedImageId), checkIntervalMs);
    }
    timer = setTimeout(() => void check(session, imageId), checkIntervalMs);
    return () => {
      isCancelled = true;
      clearTimeout(timer);
    };
  }, [session, imageId, open]);

  return {
    state,
    submitPassword: (enteredPassword) => {
      password.current = enteredPassword;
      return open();
    },
    retry: open,
  };
}
