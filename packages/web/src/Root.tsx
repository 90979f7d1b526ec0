import { useEffect, useRef } from 'react';
import { Navigate, Outlet, ScrollRestoration, useLocation, useMatches, useNavigate } from 'react-router';
import { toast } from 'react-toastify';
import { initialiseAuth, onSignInLost } from './api/auth.ts';
import { useAuth } from './api/auth-state.ts';
import { rememberLinkedSlide } from './browser/linked-slide.ts';
import { settings } from './browser/settings.ts';
import { Loading } from './components/Loading.tsx';
import { adoptStoredLanguage } from './language/language.ts';
import { texts, titles } from './language/texts.ts';
import { type RouteAccess, redirectFor } from './routing/guard.ts';

/** Data of a route in `routes.tsx`. When nested routes match a URL, `Root` uses the data of the innermost route. */
export interface RouteHandle {
  /** Who may open the screen. */
  readonly access: RouteAccess;
  /** Key of the page title in `titles`; omitted when the page title is the product's name. */
  readonly title?: keyof typeof titles;
}

/** Parent of all screens. Redirects users who may not open a screen or whose sign-in has ended, and sets the page title and the focus. */
export function Root() {
  const auth = useAuth();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const handles = useMatches().flatMap(({ handle }) => (handle ? [handle as RouteHandle] : []));
  const { access, title } = handles.at(-1) ?? { access: 'anyone' as const };

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on each new screen, to pick up what another tab has stored meanwhile
  useEffect(() => {
    adoptStoredLanguage();
    void initialiseAuth();
  }, [pathname]);

  // A stored sign-in is being verified. (While a user signs in with the form, `user` is null.)
  const isInitialising = auth.loading && !auth.isAuthenticated && auth.user !== null;
  const redirect = isInitialising ? null : redirectFor(access, pathname, auth);

  /** True until the first screen is rendered. Until then, the URL is the one at which the user opened the page. */
  const isFirstScreen = useRef(true);
  useEffect(() => {
    if (isInitialising) return;
    // `window.location` may already be the target of the `Navigate` below, whose effect runs before this one. So the URL is taken
    // from `pathname` and `search`, which are still those of this screen.
    // If the URL is that of a slide, the app shows this slide after the sign-in.
    if (isFirstScreen.current && redirect === '/auth/login') rememberLinkedSlide({ pathname, search });
    isFirstScreen.current = false;
  }, [isInitialising, redirect, pathname, search]);

  useEffect(() => {
    if (redirect !== null) return; // the redirect replaces this screen
    document.title = title ? `${titles[title]} - ${settings.productName}` : settings.productName;
  }, [title, redirect]);

  const renderedPath = useRef(pathname);
  useEffect(() => {
    if (renderedPath.current === pathname) return;
    renderedPath.current = pathname;
    return focusMain();
  }, [pathname]);

  useEffect(() => {
    onSignInLost(() => {
      if (renderedPath.current === '/shared') return; // a share link needs no sign-in
      toast.info(texts.sessionEnded, { toastId: 'session-ended' });
      rememberLinkedSlide(location);
      if (!renderedPath.current.includes('/auth/')) void navigate('/auth/login'); // '/auth/…' needs no sign-in
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
 * Focuses the new screen, so that a screen reader starts at its beginning. While the screen is still loading, this function waits until
 * the screen is rendered. It stops waiting when another element receives the focus.
 *
 * @returns a function that stops waiting
 */
function focusMain(): () => void {
  const focusedBefore = document.activeElement;
  /** Focuses `main`. @returns whether it succeeded: `main` of the previous screen is hidden while the new screen is loading */
  function tryToFocus(): boolean {
    const main = document.querySelector('main');
    main?.focus({ preventScroll: true });
    return main !== null && document.activeElement === main;
  }
  const pageObserver = new MutationObserver(() => {
    const hasOtherFocus =
      document.activeElement !== document.body && document.activeElement !== focusedBefore;
    if (hasOtherFocus || tryToFocus()) pageObserver.disconnect();
  });
  if (!tryToFocus()) pageObserver.observe(document.body, { childList: true, subtree: true });
  return () => pageObserver.disconnect();
}
