/** Every screen: its address, its title, and who may enter. */
import { type ComponentType, type ReactElement, Suspense } from 'react';
import { matchRoutes, Navigate, type RouteObject } from 'react-router';
import { Loading } from './components/Loading.tsx';
import { preloadable } from './components/preloadable.tsx';
import { texts } from './language/texts.ts';
import { AuthLayout } from './layouts/AuthLayout.tsx';
import { Root, type RouteHandle } from './Root.tsx';
import { NotFound } from './screens/not-found/NotFound.tsx';
import { ScreenFailed } from './screens/screen-failed/ScreenFailed.tsx';

/** Loads the code of an element of the table before it is rendered. */
const preloads = new WeakMap<object, () => Promise<unknown>>();

/** Screens are loaded on demand: the first screen does not wait for the others. */
function opened<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
): ReactElement {
  const Screen = preloadable<object>(async () => (await load())[name]);
  const element = (
    // By its name: another screen in this place must not keep the one before alive behind it while it loads.
    <Suspense key={name} fallback={<ScreenLoading />}>
      <Screen />
    </Suspense>
  );
  preloads.set(element, Screen.preload);
  return element;
}

/**
 * Loads the code of a screen and of its layout at the same time, so that both are rendered at once. Rejects when it cannot be
 * loaded; the route then tries again, and shows the failure.
 */
export async function preloadScreen(pathname: string): Promise<void> {
  const matches = matchRoutes(routes, pathname) ?? [];
  await Promise.all(
    matches.map(async ({ route: { element } }) => {
      if (typeof element === 'object' && element !== null) await preloads.get(element)?.();
    }),
  );
}

/** Said when it is drawn: the language may change after this table was made. */
function ScreenLoading() {
  return <Loading label={texts.loading} />;
}

const may = (access: RouteHandle['access'], title?: RouteHandle['title']): RouteHandle =>
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
          { index: true, handle: may('guests'), element: <Navigate to="/auth/login" replace /> },
          {
            path: 'login',
            handle: may('guests', 'login'),
            element: opened(() => import('./screens/login/Login.tsx'), 'Login'),
          },
          {
            path: 'register',
            handle: may('guests', 'register'),
            element: opened(() => import('./screens/register/Register.tsx'), 'Register'),
          },
          {
            path: 'confirm',
            handle: may('anyone', 'confirmRegistration'),
            element: opened(
              () => import('./screens/confirm-registration/ConfirmRegistration.tsx'),
              'ConfirmRegistration',
            ),
          },
          {
            path: 'callback',
            handle: may('guests', 'login'),
            element: opened(() => import('./screens/auth-callback/AuthCallback.tsx'), 'AuthCallback'),
          },
          // The mailed link must work in a browser that is still signed in, too.
          {
            path: 'password-reset',
            handle: may('anyone', 'passwordReset'),
            element: opened(() => import('./screens/password-reset/PasswordReset.tsx'), 'PasswordReset'),
          },
        ],
      },
      // A link works for everybody, signed in or not.
      {
        path: '/shared',
        handle: may('anyone', 'shared'),
        element: opened(() => import('./screens/shared/SharedPage.tsx'), 'SharedPage'),
      },
      {
        path: '/account-status',
        handle: may('signed-in', 'accountStatus'),
        element: opened(() => import('./screens/account-status/AccountStatus.tsx'), 'AccountStatus'),
      },
      {
        element: opened(() => import('./layouts/DashboardLayout.tsx'), 'DashboardLayout'),
        children: [
          {
            path: '/dashboard',
            handle: may('active', 'dashboard'),
            element: opened(() => import('./screens/dashboard/Dashboard.tsx'), 'Dashboard'),
          },
          {
            path: '/dashboard/profile',
            handle: may('active', 'profile'),
            element: opened(() => import('./screens/profile/Profile.tsx'), 'Profile'),
          },
          {
            path: '/collections',
            handle: may('active', 'collections'),
            element: opened(() => import('./screens/collections/Collections.tsx'), 'Collections'),
          },
          {
            path: '/collections/:collectionId/edit',
            handle: may('active', 'collections'),
            element: opened(() => import('./screens/collections/CollectionEditor.tsx'), 'CollectionEditor'),
          },
          {
            path: '/collections/:collectionId/answers',
            handle: may('active', 'collectionAnswers'),
            element: opened(() => import('./screens/collections/CollectionAnswers.tsx'), 'CollectionAnswers'),
          },
        ],
      },
      {
        element: opened(() => import('./layouts/DashboardLayout.tsx'), 'WindowLayout'),
        children: [
          {
            path: '/wsi-viewer',
            handle: may('active', 'wsiViewer'),
            element: opened(() => import('./screens/wsi-viewer/WsiViewer.tsx'), 'WsiViewer'),
          },
          {
            path: '/collections/:collectionId',
            handle: may('active', 'collections'),
            element: opened(() => import('./screens/collections/CollectionTour.tsx'), 'CollectionTour'),
          },
        ],
      },
      {
        path: '/admin',
        element: opened(() => import('./layouts/AdminLayout.tsx'), 'AdminLayout'),
        children: [
          {
            index: true,
            handle: may('admin', 'adminDashboard'),
            element: opened(() => import('./screens/admin-dashboard/AdminDashboard.tsx'), 'AdminDashboard'),
          },
          {
            path: 'users',
            handle: may('admin', 'userManagement'),
            element: opened(() => import('./screens/user-management/UserManagement.tsx'), 'UserManagement'),
          },
          {
            path: 'audit',
            handle: may('admin', 'audit'),
            element: opened(() => import('./screens/audit-log/AuditLog.tsx'), 'AuditLog'),
          },
          {
            path: 'api-tokens',
            handle: may('admin', 'apiTokens'),
            element: opened(() => import('./screens/api-tokens/ApiTokenList.tsx'), 'ApiTokenList'),
          },
          {
            path: 'slides',
            handle: may('admin', 'slides'),
            element: opened(
              () => import('./screens/slide-management/SlideManagement.tsx'),
              'SlideManagement',
            ),
          },
          {
            path: 'cases',
            handle: may('admin', 'cases'),
            element: opened(() => import('./screens/case-management/CaseManagement.tsx'), 'CaseManagement'),
          },
          {
            path: 'datasets',
            handle: may('admin', 'datasets'),
            element: opened(
              () => import('./screens/dataset-management/DatasetManagement.tsx'),
              'DatasetManagement',
            ),
          },
        ],
      },
      { path: '*', handle: may('anyone', 'notFound'), element: <NotFound /> },
    ],
  },
];
