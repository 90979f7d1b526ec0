import { may } from '@lamina/contract';
import { Title } from '@mantine/core';
import { IconMicroscope, IconShieldLock, IconUser } from '@tabler/icons-react';
import { useAuth } from '../../api/auth-state.ts';
import { Panel } from '../../components/Panel.tsx';
import { languageNow } from '../../language.ts';
import { nameOf } from '../../person.ts';
import classes from './Dashboard.module.css';
import { QuickLink } from './QuickLink.tsx';
import { RecentActivity } from './RecentActivity.tsx';
import { texts } from './texts.ts';

/** The first screen: a greeting, what the account did lately, and where to go from here. */
export function Dashboard() {
  const { user } = useAuth();
  if (user === null) return null; // the guard is about to lead away

  return (
    <>
      <Title order={1} mb="xl" className={classes.greeting}>
        {texts.greeting(nameOf(user))}
      </Title>
      <div className={classes.panels}>
        <Panel title={texts.recentActivity}>
          <RecentActivity />
        </Panel>
        <Panel title={texts.quickLinks}>
          <nav className={classes.links} aria-label={texts.quickLinks}>
            <QuickLink
              to="/wsi-viewer"
              label={texts.wsiViewer}
              labelLang={languageNow('en')}
              hint={texts.wsiViewerHint}
              icon={IconMicroscope}
            />
            <QuickLink
              to="/dashboard/profile"
              label={texts.profile}
              hint={texts.profileHint}
              icon={IconUser}
            />
            {may(user, 'users.manage') && (
              <QuickLink
                to="/admin"
                label={texts.adminPanel}
                hint={texts.adminPanelHint}
                icon={IconShieldLock}
              />
            )}
          </nav>
        </Panel>
      </div>
    </>
  );
}
