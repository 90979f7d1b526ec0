import { authState } from './api/auth-state.ts';
import { prefetchCatalogue } from './api/catalogue.ts';
import { storedToken } from './api/stored-sign-in.ts';
import { redirectFor } from './routing/guard.ts';

/** Loads the code of a share link's page and opens the link at once, when the page is opened at it. */
export function preloadShared({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): void {
  if (pathname !== '/shared' || hash.length < 2) return;
  Promise.all([
    import('./api/share-links.ts').then(({ expectLink }) => expectLink(hash.slice(1))),
    import('./screens/shared/SharedPage.tsx'),
    import('./viewer/SlideViewer.tsx'),
  ]).catch(() => undefined); // loaded again by the route, which shows the failure
}

/**
 * Loads the code of the viewer at once when the page is opened at it. Otherwise each part would wait for the one that contains
 * it, a round trip each. The list of the catalogue is requested as soon as it is known that the account may see it.
 *
 * @param signInChecked resolves when `initialiseAuth` is done
 */
export async function preloadViewer(pathname: string, signInChecked: Promise<void>): Promise<void> {
  if (pathname !== '/wsi-viewer' || storedToken() === null) return;
  Promise.all([import('./layouts/DashboardLayout.tsx'), import('./screens/wsi-viewer/WsiViewer.tsx')]).catch(
    () => undefined, // the route loads it again, and shows the failure
  );
  await signInChecked;
  if (redirectFor('active', pathname, authState()) === null) prefetchCatalogue();
}

/** Loads the code of the login page at once where a visitor without a sign-in is led to it. */
export function preloadLogin(location: Pick<Location, 'pathname'>): void {
  if (isLoginNext(location)) void import('./screens/login/Login.tsx').catch(() => undefined); // loaded again by the route
}

/** Whether a page that is opened at this address shows the login page, as far as it is known before the server is asked. */
export function isLoginNext({ pathname }: Pick<Location, 'pathname'>): boolean {
  const isOpenToAll = pathname === '/shared' || (pathname.startsWith('/auth/') && pathname !== '/auth/login');
  return !isOpenToAll && storedToken() === null;
}
