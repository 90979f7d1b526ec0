import { Outlet } from 'react-router';

export function AdminLayout() {
  return (
    <main tabIndex={-1}>
      <Outlet />
    </main>
  );
}
