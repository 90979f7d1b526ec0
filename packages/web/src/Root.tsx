import { useEffect, useRef } from 'react';
import { Navigate, Outlet, ScrollRestoration, useLocation, useMatches, useNavigate } from 'react-router';
import { toast } from 'react-toastify';
import { initialiseAuth, onSignInLost } from './api/auth.ts';
import { useAuth } from './api/auth-state.ts';
import { rememberLinkedSlide } from './browser/linked-slide.ts';
import { settings } from './browser/settings.ts';
import { Loading } from './components/Loading.tsx';
import { texts, titles } from './language/texts.ts';
import { type RouteAccess, redirectFor } from './routing/guard.ts';

/** Data of a route in `routes.tsx`. When nested routes match a URL, the data of the innermost one applies. */
export interface RouteHandle {
  /** Who may open the screen. */
  readonly access: RouteAccess;
  /** Key of the page title in `titles`; omitted when the page title is the product's name. */
  readonly title?: keyof typeof titles;
}

/** Parent of all screens: redirects people who may not open a screen or whose sign-in has ended, and sets the page title and the focus. */
export function Root() {
  const auth = useAuth();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const handles = useMatches().flatMap(({ handle }) => (handle ? [handle as RouteHandle] : []));
  const { access, title } = handles.at(-1) ?? { access: 'anyone' as const };

  // biome-ignore lint/correctness/useExhaustiveDependencies: on each new screen, verifies a sign-in that was stored meanwhile
  useEffect(() => void initialiseAuth(), [pathname]);

  // Whether a stored sign-in is being verified; while a person signs in with the form, `user` is null.
  const isInitialising = auth.loading && !auth.isAuthenticated && auth.user !== null;
  const redirect = isInitialising ? null : redirectFor(access, pathname, auth);

  /** True until the first screen is rendered: until then, the URL is the one at which the person has opened the page. */
  const isFirstScreen = useRef(true);
  useEffect(() => {
    if (isInitialising) return;
    // `location` may already have the URL of the `Navigate` below, whose effects run before this one; `pathname` and `search` do not.
    if (isFirstScreen.current && redirect === '/auth/login') rememberLinkedSlide({ pathname, search });
    isFirstScreen.current = false;
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
    onSignInLost(() => {
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
 * Focuses the new screen, so that a screen reader reads it from its beginning. When the screen is still loading, waits until it is
 * rendered, and then leaves the focus where it is if another element has received it meanwhile.
 *
 * @returns a function that stops waiting
 */
function focusMain(): () => void {
  const focusedBefore = document.activeElement;
  /** Returns false while the new screen is loading: the `main` of the previous screen is then hidden, and cannot receive the focus. */
  function focusNow(): boolean {
    const main = document.querySelector('main');
    main?.focus({ preventScroll: true });
    return main !== null && document.activeElement === main;
  }
  const pageObserver = new MutationObserver(() => {
    const isElsewhere = document.activeElement !== document.body && document.activeElement !== focusedBefore;
    if (isElsewhere || focusNow()) pageObserver.disconnect();
  });
  if (!focusNow()) pageObserver.observe(document.body, { childList: true, subtree: true });
  return () => pageObserver.disconnect();
}
