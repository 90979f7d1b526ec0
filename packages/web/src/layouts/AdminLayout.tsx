import { Badge } from '@mantine/core';
import { Outlet, useNavigate } from 'react-router';
import { announce } from '../announce.ts';
import { logout } from '../api/auth.ts';
import { useAuth } from '../api/auth-state.ts';
import { TopBar } from '../components/TopBar.tsx';
import { UserMenu } from '../components/UserMenu.tsx';
import classes from './layout.module.css';
import { adminTexts as texts } from './texts.ts';

const links = [
  { to: '/admin', label: texts.adminDashboard, end: true },
  { to: '/admin/users', label: texts.users },
  { to: '/dashboard', label: texts.backToDashboard },
];

/** Around the screens of administrators. */
export function AdminLayout() {
  const { user } = useAuth();
  const navigate = useNavigate();
  if (user === null) return null; // the guard is about to lead away

  async function leave() {
    announce(await logout());
    await navigate('/auth/login');
  }

  return (
    <>
      <div className={classes.adminMark} />
      <TopBar home="/dashboard" links={links} navigationLabel={texts.navigation}>
        <UserMenu
          user={user}
          badge={
            <Badge color="eosin" variant="filled" lang="en">
              {texts.badge}
            </Badge>
          }
          profileLabel={texts.profile}
          logoutLabel={texts.logout}
          onLogout={() => void leave()}
          lang="tr"
        />
      </TopBar>
      <main id="content" className={classes.content} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
