import { Outlet } from 'react-router';

interface DashboardLayoutProps {
  /** The screen takes the whole window under the top bar and scrolls by itself. */
  readonly fillsWindow?: boolean;
}

export function DashboardLayout({ fillsWindow = false }: DashboardLayoutProps) {
  return (
    <main
      tabIndex={-1}
      style={fillsWindow ? { height: 'calc(100dvh - var(--top-bar-height))', overflow: 'hidden' } : {}}
    >
      <Outlet />
    </main>
  );
}
