import { Outlet } from 'react-router';

export function AuthLayout() {
  return (
    <main tabIndex={-1}>
      <Outlet />
    </main>
  );
}
