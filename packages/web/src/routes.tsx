/** Every screen: its address, its title, and who may enter. */
import { lazy, Suspense } from 'react';
import { Navigate, type RouteObject } from 'react-router';
import { Loading } from './components/Loading.tsx';
import { AdminLayout } from './layouts/AdminLayout.tsx';
import { AuthLayout } from './layouts/AuthLayout.tsx';
import { DashboardLayout } from './layouts/DashboardLayout.tsx';
import { Root, type RouteHandle } from './Root.tsx';
import { AccountStatus } from './screens/account-status/AccountStatus.tsx';
import { AdminDashboard } from './screens/admin-dashboard/AdminDashboard.tsx';
import { AuthCallback } from './screens/auth-callback/AuthCallback.tsx';
import { Dashboard } from './screens/dashboard/Dashboard.tsx';
import { Login } from './screens/login/Login.tsx';
import { NotFound } from './screens/not-found/NotFound.tsx';
import { PasswordReset } from './screens/password-reset/PasswordReset.tsx';
import { Profile } from './screens/profile/Profile.tsx';
import { Register } from './screens/register/Register.tsx';
import { ScreenFailed } from './screens/screen-failed/ScreenFailed.tsx';
import { UserManagement } from './screens/user-management/UserManagement.tsx';
import { texts } from './texts.ts';

/** The viewer is the heaviest screen, and not everybody may enter it: it is loaded when it is opened. */
const WsiViewer = lazy(async () => {
  const { WsiViewer } = await import('./screens/wsi-viewer/WsiViewer.tsx');
  return { default: WsiViewer };
});

const DatasetManagement = lazy(async () => {
  const { DatasetManagement } = await import('./screens/dataset-management/DatasetManagement.tsx');
  return { default: DatasetManagement };
});

/** Few look into the trail, and nobody at every visit. */
const AuditLog = lazy(async () => {
  const { AuditLog } = await import('./screens/audit-log/AuditLog.tsx');
  return { default: AuditLog };
});

const may = (access: RouteHandle['access'], title?: string): RouteHandle =>
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
          { path: 'login', handle: may('guests', 'Giriş'), element: <Login /> },
          { path: 'register', handle: may('guests', 'Kayıt Ol'), element: <Register /> },
          { path: 'callback', handle: may('guests', 'Giriş'), element: <AuthCallback /> },
          // The mailed link must work in a browser that is still signed in, too.
          { path: 'password-reset', handle: may('anyone', 'Şifre Sıfırlama'), element: <PasswordReset /> },
        ],
      },
      { path: '/account-status', handle: may('signed-in', 'Hesap Durumu'), element: <AccountStatus /> },
      {
        element: <DashboardLayout />,
        children: [
          { path: '/dashboard', handle: may('active', 'Dashboard'), element: <Dashboard /> },
          { path: '/dashboard/profile', handle: may('active', 'Profile'), element: <Profile /> },
        ],
      },
      {
        element: <DashboardLayout fillsWindow />,
        children: [
          {
            path: '/wsi-viewer',
            handle: may('active', 'WSI Viewer'),
            element: (
              <Suspense fallback={<Loading label={texts.loading} />}>
                <WsiViewer />
              </Suspense>
            ),
          },
        ],
      },
      {
        path: '/admin',
        element: <AdminLayout />,
        children: [
          { index: true, handle: may('admin', 'Admin Dashboard'), element: <AdminDashboard /> },
          { path: 'users', handle: may('admin', 'User Management'), element: <UserManagement /> },
          {
            path: 'audit',
            handle: may('admin', 'Denetim Kaydı'),
            element: (
              <Suspense fallback={<Loading label={texts.loading} />}>
                <AuditLog />
              </Suspense>
            ),
          },
          {
            path: 'datasets',
            handle: may('admin', 'Veri Kümeleri'),
            element: (
              <Suspense fallback={<Loading label={texts.loading} />}>
                <DatasetManagement />
              </Suspense>
            ),
          },
        ],
      },
      { path: '*', handle: may('anyone', 'Sayfa Bulunamadı'), element: <NotFound /> },
    ],
  },
];
