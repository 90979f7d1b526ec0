/** The routes of the app: for each screen its path, its title, and who may open it. */
import { type ComponentType, type ReactElement, Suspense } from 'react';
import { matchRoutes, Navigate, type RouteObject } from 'react-router';
import { Loading } from './components/Loading.tsx';
import { preloadable } from './components/preloadable.tsx';
import { texts } from './language/texts.ts';
import { AuthLayout } from './layouts/AuthLayout.tsx';
import { Root, type RouteHandle } from './Root.tsx';
import { NotFound } from './screens/not-found/NotFound.tsx';
import { ScreenFailed } from './screens/screen-failed/ScreenFailed.tsx';

/** For each lazy element of `routes`, the function that loads its script. */
const preloads = new WeakMap<object, () => Promise<unknown>>();

/**
 * Returns an element whose script is loaded on demand, so that the first screen does not wait for the scripts of the others.
 *
 * @param load imports the module of the screen
 * @param name name of the component in that module
 */
function lazyScreen<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
): ReactElement {
  const Screen = preloadable<object>(async () => (await load())[name]);
  const element = (
    // The key makes React unmount the previous screen while the script of the next one is loading.
    <Suspense key={name} fallback={<ScreenLoading />}>
      <Screen />
    </Suspense>
  );
  preloads.set(element, Screen.preload);
  return element;
}

/**
 * Loads the scripts of a screen and of its layout at the same time, so that both are rendered together. Rejects when a script cannot
 * be loaded; the route then loads it again and shows an error if that fails, too.
 */
export async function preloadScreen(pathname: string): Promise<void> {
  const matches = matchRoutes(routes, pathname) ?? [];
  await Promise.all(
    matches.map(async ({ route: { element } }) => {
      if (typeof element === 'object' && element !== null) await preloads.get(element)?.();
    }),
  );
}

/** A component, so that React reads the text at each rendering: the language may change after `routes` was created. */
function ScreenLoading() {
  return <Loading label={texts.loading} />;
}

/** Returns the `handle` of a route, from which `Root` reads. @param title key of the page title in `titles` */
const handleFor = (access: RouteHandle['access'], title?: RouteHandle['title']): RouteHandle =>
  title === undefined ? { access } : { access, title };

export const routes: RouteObject[] = [
  {
    element: <Root />,
    errorElement: <ScreenFailed />,
    children: [
      { path: '/', element: <Navigate to="/dashboard" replace /> },
      {
        path: '/auth',
        element: <AuthLayout />,
        children: [
          { index: true, handle: handleFor('guests'), element: <Navigate to="/auth/login" replace /> },
          {
            path: 'login',
            handle: handleFor('guests', 'login'),
            element: lazyScreen(() => import('./screens/login/Login.tsx'), 'Login'),
          },
          {
            path: 'register',
            handle: handleFor('guests', 'register'),
            element: lazyScreen(() => import('./screens/register/Register.tsx'), 'Register'),
          },
          {
            path: 'confirm',
            handle: handleFor('anyone', 'confirmRegistration'),
            element: lazyScreen(
              () => import('./screens/confirm-registration/ConfirmRegistration.tsx'),
              'ConfirmRegistration',
            ),
          },
          {
            path: 'callback',
            handle: handleFor('guests', 'login'),
            element: lazyScreen(() => import('./screens/auth-callback/AuthCallback.tsx'), 'AuthCallback'),
          },
          // Links in e-mails open this route and `confirm`. They must also work while an active account is signed in.
          {
            path: 'password-reset',
            handle: handleFor('anyone', 'passwordReset'),
            element: lazyScreen(() => import('./screens/password-reset/PasswordReset.tsx'), 'PasswordReset'),
          },
        ],
      },
      // A share link works with and without a sign-in.
      {
        path: '/shared',
        handle: handleFor('anyone', 'shared'),
        element: lazyScreen(() => import('./screens/shared/SharedPage.tsx'), 'SharedPage'),
      },
      {
        path: '/account-status',
        handle: handleFor('signed-in', 'accountStatus'),
        element: lazyScreen(() => import('./screens/account-status/AccountStatus.tsx'), 'AccountStatus'),
      },
      {
        element: lazyScreen(() => import('./layouts/DashboardLayout.tsx'), 'DashboardLayout'),
        children: [
          {
            path: '/dashboard',
            handle: handleFor('active', 'dashboard'),
            element: lazyScreen(() => import('./screens/dashboard/Dashboard.tsx'), 'Dashboard'),
          },
          {
            path: '/dashboard/profile',
            handle: handleFor('active', 'profile'),
            element: lazyScreen(() => import('./screens/profile/Profile.tsx'), 'Profile'),
          },
          {
            path: '/collections',
            handle: handleFor('active', 'collections'),
            element: lazyScreen(() => import('./screens/collections/Collections.tsx'), 'Collections'),
          },
          {
            path: '/collections/:collectionId/edit',
            handle: handleFor('active', 'collections'),
            element: lazyScreen(
              () => import('./screens/collections/CollectionEditor.tsx'),
              'CollectionEditor',
            ),
          },
          {
            path: '/collections/:collectionId/answers',
            handle: handleFor('active', 'collectionAnswers'),
            element: lazyScreen(
              () => import('./screens/collections/CollectionAnswers.tsx'),
              'CollectionAnswers',
            ),
          },
        ],
      },
      {
        element: lazyScreen(() => import('./layouts/DashboardLayout.tsx'), 'WindowLayout'),
        children: [
          {
            path: '/wsi-viewer',
            handle: handleFor('active', 'wsiViewer'),
            element: lazyScreen(() => import('./screens/wsi-viewer/WsiViewer.tsx'), 'WsiViewer'),
          },
          {
            path: '/collections/:collectionId',
            handle: handleFor('active', 'collections'),
            element: lazyScreen(() => import('./screens/collections/CollectionTour.tsx'), 'CollectionTour'),
          },
        ],
      },
      {
        path: '/admin',
        element: lazyScreen(() => import('./layouts/AdminLayout.tsx'), 'AdminLayout'),
        children: [
          {
            index: true,
            handle: handleFor('admin', 'adminDashboard'),
            element: lazyScreen(
              () => import('./screens/admin-dashboard/AdminDashboard.tsx'),
              'AdminDashboard',
            ),
          },
          {
            path: 'users',
            handle: handleFor('admin', 'userManagement'),
            element: lazyScreen(
              () => import('./screens/user-management/UserManagement.tsx'),
              'UserManagement',
            ),
          },
          {
            path: 'audit',
            handle: handleFor('admin', 'audit'),
            element: lazyScreen(() => import('./screens/audit-log/AuditLog.tsx'), 'AuditLog'),
          },
          {
            path: 'api-tokens',
            handle: handleFor('admin', 'apiTokens'),
            element: lazyScreen(() => import('./screens/api-tokens/ApiTokenList.tsx'), 'ApiTokenList'),
          },
          {
            path: 'slides',
            handle: handleFor('admin', 'slides'),
            element: lazyScreen(
              () => import('./screens/slide-management/SlideManagement.tsx'),
              'SlideManagement',
            ),
          },
          {
            path: 'cases',
            handle: handleFor('admin', 'cases'),
            element: lazyScreen(
              () => import('./screens/case-management/CaseManagement.tsx'),
              'CaseManagement',
            ),
          },
          {
            path: 'datasets',
            handle: handleFor('admin', 'datasets'),
            element: lazyScreen(
              () => import('./screens/dataset-management/DatasetManagement.tsx'),
              'DatasetManagement',
            ),
          },
        ],
      },
      { path: '*', handle: handleFor('anyone', 'notFound'), element: <NotFound /> },
    ],
  },
];
