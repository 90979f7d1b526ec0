import { may } from '@lamina/contract';
import { Alert, Button, Title } from '@mantine/core';
import { IconMicroscope, IconUser } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { forgetLinkedSlide, linkedSlide } from '../../browser/linked-slide.ts';
import { Panel } from '../../components/Panel.tsx';
import { nameOf } from '../../formatting/person.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { AdminLinks } from './AdminLinks.tsx';
import classes from './Dashboard.module.css';
import { QuickLink } from './QuickLink.tsx';
import { RecentActivity } from './RecentActivity.tsx';
import { RecentAnnotations } from './RecentAnnotations.tsx';
import { texts } from './texts.ts';

/**
 * The screen after the sign-in: a greeting, the recent activity of the account, and links to the other screens. A user who
 * followed a link to a slide before the sign-in can continue to that slide.
 */
export function Dashboard() {
  const { user } = useAuth();
  /** URL of a slide that the user opened before the sign-in; null when there is none. */
  const [slideLink, setSlideLink] = useState(linkedSlide);
  if (user === null) return null; // the route guard redirects to the sign-in

  return (
    <>
      <Title order={1} mb="xl" className={classes.greeting}>
        {texts.greeting(nameOf(user))}
      </Title>
      {slideLink !== null && (
        <Alert
          mb="xl"
          color="haematoxylin" // the theme's blue-purple, named after the stain
          icon={<IconMicroscope aria-hidden />}
          title={texts.linkedSlide}
          withCloseButton
          closeButtonLabel={sharedTexts.close}
          onClose={() => {
            forgetLinkedSlide();
            setSlideLink(null);
          }}
        >
          <Button component={Link} to={slideLink} size="sm" mt="xs" onClick={forgetLinkedSlide}>
            {texts.linkedSlideOpen}
          </Button>
        </Alert>
      )}
      <div className={classes.panels}>
        <Panel title={texts.recentActivity}>
          <RecentActivity />
        </Panel>
        <div className={classes.column}>
          <Panel title={texts.quickLinks}>
            <nav className={classes.links} aria-label={texts.quickLinks}>
              <QuickLink
                to="/wsi-viewer"
                label={texts.wsiViewer}
                labelLanguage={chosenLanguageOr('en')} // English until the user chooses a language
                hint={texts.wsiViewerHint}
                icon={IconMicroscope}
              />
              <QuickLink
                to="/dashboard/profile"
                label={texts.profile}
                hint={texts.profileHint}
                icon={IconUser}
              />
              {may(user, 'users.manage') && <AdminLinks />}
            </nav>
          </Panel>
          {may(user, 'annotations.read') && <RecentAnnotations />}
        </div>
      </div>
    </>
  );
}
