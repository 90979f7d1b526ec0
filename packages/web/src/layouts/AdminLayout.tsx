import { Badge } from '@mantine/core';
import { Outlet, useNavigate } from 'react-router';
import { logout } from '../api/auth.ts';
import { useAuth } from '../api/auth-state.ts';
import { useWaitingCounts } from '../api/users.ts';
import { LoadedUserMenu } from '../components/LoadedUserMenu.tsx';
import { TopBar } from '../components/TopBar.tsx';
import { chosenLanguageOr } from '../language/language.ts';
import { announce } from '../notifications/notify.ts';
import { useUploadActivity } from '../notifications/upload-activity.ts';
import classes from './layout.module.css';
import { adminTexts as texts } from './texts.ts';

/** Layout of the admin screens: navigation bar with the counts of waiting work, user menu, content. */
export function AdminLayout() {
  const { user } = useAuth();
  const navigate = useNavigate();
  const waiting = useWaitingCounts().data;
  const uploads = useUploadActivity();
  if (user === null) return null; // the routing guard redirects

  // An upload of empty files has a size of 0 bytes.
  const uploadedShare = uploads.sizeBytes === 0 ? 0 : uploads.sentBytes / uploads.sizeBytes;
  const links = [
    { to: '/admin', label: texts.adminDashboard, isExact: true },
    {
      to: '/admin/users',
      label: texts.users,
      waiting: waitingItems(waiting?.applications, texts.peopleWait),
    },
    {
      to: '/admin/slides',
      label: texts.slides,
      waiting: waitingItems(uploads.count, (count) => texts.uploadsRun(count, uploadedShare)),
    },
    { to: '/admin/cases', label: texts.cases },
    {
      to: '/admin/datasets',
      label: texts.datasets,
      waiting: waitingItems(waiting?.datasetRequests, texts.requestsWait),
    },
    { to: '/admin/audit', label: texts.audit },
    { to: '/dashboard', label: texts.backToDashboard },
  ];

  async function signOut() {
    announce(await logout()); // ends the sign-in of this browser even when the call fails
    await navigate('/auth/login');
  }

  return (
    <>
      <div className={classes.adminMark} /> {/* a coloured line that marks the admin area */}
      <TopBar home="/dashboard" links={links} navigationLabel={texts.navigation}>
        <LoadedUserMenu
          user={user}
          badge={
            <Badge color="eosin" variant="filled" lang={chosenLanguageOr('en')}>
              {texts.badge}
            </Badge>
          }
          profileLabel={texts.profile}
          logoutLabel={texts.logout}
          onLogout={() => void signOut()}
          labelLanguage={chosenLanguageOr('tr')} // until the user chooses a language, the admin area is Turkish, but its badge English
        />
      </TopBar>
      <main id="content" className={classes.content} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

/** Returns the count of waiting items that a link shows, with its label; null when the count is 0 or unknown. */
function waitingItems(count: number | undefined, label: (count: number) => string) {
  return count ? { count, label: label(count) } : null;
}
