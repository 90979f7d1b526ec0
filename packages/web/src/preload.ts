import { authState } from './api/auth-state.ts';
import { prefetchCatalogue } from './api/catalogue.ts';
import { storedToken } from './api/stored-sign-in.ts';
import { redirectFor } from './routing/guard.ts';

/** When the page is opened at a share link, loads the code of its screen and opens the link without waiting for the router. */
export function preloadShared({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): void {
  if (pathname !== '/shared' || hash.length < 2) return;
  Promise.all([
    import('./api/share-links.ts').then(({ preopenLink }) => preopenLink(hash.slice(1))),
    import('./screens/shared/SharedPage.tsx'),
    import('./viewer/SlideViewer.tsx'),
  ]).catch(() => undefined); // the route loads the code again and shows the failure
}

/**
 * When the page is opened at the viewer, loads all parts of its code at once; otherwise each part would be requested only when the
 * part that contains it is loaded, a round trip each. Requests the catalogue as soon as it is known that the account may see it.
 *
 * @param signInChecked resolves when `initialiseAuth` is done
 */
export async function preloadViewer(pathname: string, signInChecked: Promise<void>): Promise<void> {
  if (pathname !== '/wsi-viewer' || storedToken() === null) return;
  Promise.all([import('./layouts/DashboardLayout.tsx'), import('./screens/wsi-viewer/WsiViewer.tsx')]).catch(
    () => undefined, // the route loads the code again and shows the failure
  );
  await signInChecked;
  if (redirectFor('active', pathname, authState()) === null) prefetchCatalogue();
}

/** Loads the code of the login page at once when the router will redirect to it because the browser has no stored sign-in. */
export function preloadLogin(location: Pick<Location, 'pathname'>): void {
  if (!isLoginNext(location)) return;
  void import('./screens/login/Login.tsx').catch(() => undefined); // the route loads the code again and shows the failure
}

/** Whether this address will show the login page: it needs a sign-in and none is stored. The server may reject a stored one later. */
export function isLoginNext({ pathname }: Pick<Location, 'pathname'>): boolean {
  const isOpenToAll = pathname === '/shared' || (pathname.startsWith('/auth/') && pathname !== '/auth/login');
  return !isOpenToAll && storedToken() === null;
}
