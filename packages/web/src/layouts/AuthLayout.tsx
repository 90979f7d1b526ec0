import { Outlet } from 'react-router';
import { CenteredPage } from '../components/CenteredPage.tsx';

/** Around signing in and registering. */
export function AuthLayout() {
  return (
    <CenteredPage>
      <Outlet />
    </CenteredPage>
  );
}
