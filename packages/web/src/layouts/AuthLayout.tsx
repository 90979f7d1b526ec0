import { Outlet } from 'react-router';
import { CenteredPage } from '../components/CenteredPage.tsx';

/** Layout of the screens for signing in, registering and resetting a password. */
export function AuthLayout() {
  return (
    <CenteredPage>
      <Outlet />
    </CenteredPage>
  );
}
