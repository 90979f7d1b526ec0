/** Preloading for `main.ts`: requests scripts and data of the first screen while `start.tsx` and the router are still loading. */
import { authState } from './api/auth-state.ts';
import { prefetchCatalogue } from './api/catalogue.ts';
import { storedToken } from './api/stored-sign-in.ts';
import { redirectFor } from './routing/guard.ts';

/** When the page is opened at a share link, loads the scripts of its screen and opens the link without waiting for the router. */
export function preloadShared({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): void {
  if (pathname !== '/shared' || hash.length < 2) return; // the hash is '#' and the secret of the link
  Promise.all([
    import('./api/share-links.ts').then(({ preopenLink }) => preopenLink(hash.slice(1))),
    import('./screens/shared/SharedPage.tsx'),
    import('./viewer/SlideViewer.tsx'),
  ]).catch(() => undefined); // after a failure, the route loads the scripts again and shows an error
}

/**
 * When the page is opened at the URL of the slide viewer, loads all its scripts at once: the router would request each script only
 * after the script that imports it. Then requests the catalogue as soon as the sign-in is verified.
 *
 * @param signInChecked resolves when `initialiseAuth` is done
 */
export async function preloadViewer(pathname: string, signInChecked: Promise<void>): Promise<void> {
  if (pathname !== '/wsi-viewer' || storedToken() === null) return;
  Promise.all([import('./layouts/DashboardLayout.tsx'), import('./screens/wsi-viewer/WsiViewer.tsx')]).catch(
    () => undefined, // after a failure, the route loads the scripts again and shows an error
  );
  await signInChecked;
  if (redirectFor('active', pathname, authState()) === null) prefetchCatalogue();
}

/** Loads the script of the login page at once when the router will redirect to it because the browser has no stored sign-in. */
export function preloadLogin(location: Pick<Location, 'pathname'>): void {
  if (!isLoginNext(location)) return;
  void import('./screens/login/Login.tsx').catch(() => undefined); // after a failure, the route loads the script again
}

/**
 * Returns whether the login page opens next because no sign-in is stored. (Only the server knows whether a stored one is valid.) Also
 * true for an unknown URL: it shows the screen `NotFound`, and the script of the login page is loaded without need.
 */
export function isLoginNext({ pathname }: Pick<Location, 'pathname'>): boolean {
  const showsOtherScreen =
    pathname === '/shared' || (pathname.startsWith('/auth/') && pathname !== '/auth/login');
  return !showsOtherScreen && storedToken() === null;
}
