import { may } from '@lamina/contract';
import { Outlet, useNavigate } from 'react-router';
import { toast } from 'react-toastify';
import { logout } from '../api/auth.ts';
import { useAuth } from '../api/auth-state.ts';
import { LoadedUserMenu } from '../components/LoadedUserMenu.tsx';
import { PendingBanner } from '../components/PendingBanner.tsx';
import { TopBar } from '../components/TopBar.tsx';
import { chosenLanguageOr } from '../language/language.ts';
import classes from './layout.module.css';
import { dashboardTexts as texts } from './texts.ts';

interface DashboardLayoutProps {
  /** Whether the screen fills the window below the top bar and scrolls its own content, while the page does not scroll. */
  readonly fillsWindow?: boolean;
}

/** Layout of the screens for signed-in users: navigation bar, content, and a banner for users who wait for approval. */
export function DashboardLayout({ fillsWindow = false }: DashboardLayoutProps) {
  const { user } = useAuth();
  const navigate = useNavigate();
  if (user === null) return null; // the routing guard redirects
  const language = chosenLanguageOr('en'); // 'en': the language of this layout until the user chooses one

  async function signOut() {
    const result = await logout(); // ends the sign-in of this browser even when the call fails
    // `result.message` would be in Turkish until the user chooses a language.
    if (result.success) toast.success(<span lang={language}>{texts.loggedOut}</span>);
    else toast.error(result.message);
    await navigate('/auth/login');
  }

  const links = [
    { to: '/wsi-viewer', label: texts.wsiViewer },
    { to: '/collections', label: texts.collections },
    ...(may(user, 'users.manage') ? [{ to: '/admin', label: texts.adminPanel }] : []),
  ];

  return (
    <div className={fillsWindow ? classes.page : undefined}>
      <TopBar home="/dashboard" links={links} navigationLabel={texts.navigation} lang={language}>
        <LoadedUserMenu
          user={user}
          profileLabel={texts.profile}
          logoutLabel={texts.logout}
          onLogout={() => void signOut()}
          labelLanguage={language}
        />
      </TopBar>
      {user.status === 'pending' && <PendingBanner />}
      <main id="content" className={fillsWindow ? classes.window : classes.content} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** The layout for a screen that fills the window. */
export function WindowLayout() {
  return <DashboardLayout fillsWindow />;
}
