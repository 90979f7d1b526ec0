import { useEffect, useRef } from 'react';
import { Navigate, Outlet, ScrollRestoration, useLocation, useMatches, useNavigate } from 'react-router';
import { toast } from 'react-toastify';
import { initialiseAuth, onSessionEnded } from './api/auth.ts';
import { useAuth } from './api/auth-state.ts';
import { rememberLinkedSlide } from './browser/linked-slide.ts';
import { settings } from './browser/settings.ts';
import { Loading } from './components/Loading.tsx';
import { texts, titles } from './language/texts.ts';
import { type RouteAccess, redirectFor } from './routing/guard.ts';

/** What a row of the route table says of a screen; the innermost row decides. */
export interface RouteHandle {
  readonly access: RouteAccess;
  /** Name of its text among the titles. */
  readonly title?: keyof typeof titles;
}

/** Above every screen: who may enter, the page's title, and where a sign-in that has ended leads. */
export function Root() {
  const auth = useAuth();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const handles = useMatches().flatMap(({ handle }) => (handle ? [handle as RouteHandle] : []));
  const { access, title } = handles.at(-1) ?? { access: 'anyone' as const };

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again at every way to a screen
  useEffect(() => void initialiseAuth(), [pathname]);

  const isInitialising = auth.loading && !auth.isAuthenticated && auth.user !== null;
  const redirect = isInitialising ? null : redirectFor(access, pathname, auth);

  /** Until the first screen of this page is drawn, the address is the one that was opened. */
  const isFirst = useRef(true);
  useEffect(() => {
    if (isInitialising) return;
    // Of this drawing: the child's `Navigate` may have changed the browser's address already.
    if (isFirst.current && redirect === '/auth/login') rememberLinkedSlide({ pathname, search });
    isFirst.current = false;
  }, [isInitialising, redirect, pathname, search]);

  useEffect(() => {
    if (redirect !== null) return; // the redirect replaces this screen
    document.title = title ? `${titles[title]} - ${settings.productName}` : settings.productName;
  }, [title, redirect]);

  const shownPath = useRef(pathname);
  useEffect(() => {
    if (shownPath.current === pathname) return;
    shownPath.current = pathname;
    return focusMain();
  }, [pathname]);

  useEffect(() => {
    onSessionEnded(() => {
      toast.info(texts.sessionEnded, { toastId: 'session-ended' });
      rememberLinkedSlide(location);
      if (!shownPath.current.includes('/auth/')) void navigate('/auth/login');
    });
  }, [navigate]);

  if (isInitialising) return <Loading label={texts.loading} />;
  if (redirect !== null) return <Navigate to={redirect} replace />;
  return (
    <>
      <Outlet />
      <ScrollRestoration />
    </>
  );
}

/**
 * A reader of the screen hears the new one from its beginning: at once, or, of a screen that is still being loaded,
 * as soon as it is drawn, unless something else has got the focus by then.
 *
 * @returns a function that waits no longer
 */
function focusMain(): () => void {
  const before = document.activeElement;
  /** The screen that is left takes no focus: until another is there it is in the page, but hidden. */
  function take(): boolean {
    const main = document.querySelector('main');
    main?.focus({ preventScroll: true });
    return main !== null && document.activeElement === main;
  }
  const drawn = new MutationObserver(() => {
    const isElsewhere = document.activeElement !== document.body && document.activeElement !== before;
    if (isElsewhere || take()) drawn.disconnect();
  });
  if (!take()) drawn.observe(document.body, { childList: true, subtree: true });
  return () => drawn.disconnect();
}
