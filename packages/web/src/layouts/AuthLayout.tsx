import { Outlet } from 'react-router';
import { CenteredPage } from '../components/CenteredPage.tsx';

/** Layout of sign-in and registration. */
export function AuthLayout() {
  return (
    <CenteredPage>
      <Outlet />
    </CenteredPage>
  );
}
