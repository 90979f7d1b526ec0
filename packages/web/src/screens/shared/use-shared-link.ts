import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchSharedSlideStatus, type OpenedLink, openLink } from '../../api/share-links.ts';
import { preloadTour } from '../../viewer/tour/Tour.tsx';

export type SharedLinkState =
  | { readonly kind: 'opening' }
  /** @property message why the password was not accepted; null before the first attempt */
  | { readonly kind: 'password'; readonly message: string | null }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'open'; readonly link: OpenedLink };

/** A link that has been ended closes its slide within this time. */
const checkEveryMs = 700;
/** A session that has less time left is replaced by opening the link again. */
const renewalMarginMs = 30_000;

interface SharedLink {
  readonly state: SharedLinkState;
  readonly submitPassword: (password: string) => Promise<void>;
  readonly retry: () => Promise<void>;
}

/**
 * Opens a share link, keeps its session alive, and notices when the link has ended.
 *
 * @param place position of the item in view, whose slide is asked for again and again
 */
export function useSharedLink(secret: string, place: number): SharedLink {
  const [state, setState] = useState<SharedLinkState>({ kind: 'opening' });
  const password = useRef<string>(undefined);
  const endsAt = useRef(0);
  const attempts = useRef(0);

  const open = useCallback(async () => {
    attempts.current += 1;
    const attempt = attempts.current;
    const answer = await openLink(secret, password.current);
    if (attempt !== attempts.current) return; // another link, or the page was left
    if (!('error' in answer)) {
      endsAt.current = performance.now() + answer.expires_in * 1000;
      await preloadTour().catch(() => undefined); // loaded again with the slide, which shows the failure
      if (attempt === attempts.current) setState({ kind: 'open', link: answer });
    } else if (answer.error === 'not_found') setState({ kind: 'ended' });
    else if (answer.error === 'password_required') setState({ kind: 'password', message: null });
    else if (answer.error === 'password_invalid') setState({ kind: 'password', message: answer.message });
    else setState({ kind: 'failed', message: answer.message });
  }, [secret]);

  useEffect(() => {
    void open();
    return () => {
      attempts.current += 1;
    };
  }, [open]);

  const session = state.kind === 'open' ? state.link.session_id : null;
  const shownImage = state.kind === 'open' ? (state.link.items[place]?.image_id ?? null) : null;
  useEffect(() => {
    if (session === null || shownImage === null) return;
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function check(current: string, image: string) {
      if (performance.now() > endsAt.current - renewalMarginMs) await open();
      else if (!document.hidden) {
        const status = await fetchSharedSlideStatus(image, current);
        if (!isLeft && (status === 401 || status === 404)) setState({ kind: 'ended' });
      }
      if (!isLeft) timer = setTimeout(() => void check(current, image), checkEveryMs);
    }
    timer = setTimeout(() => void check(session, shownImage), checkEveryMs);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [session, shownImage, open]);

  return {
    state,
    submitPassword: (typed) => {
      password.current = typed;
      return open();
    },
    retry: open,
  };
}
