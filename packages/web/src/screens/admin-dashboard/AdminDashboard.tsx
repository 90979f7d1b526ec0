import { Button, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { Panel } from '../../components/Panel.tsx';
import { nameOf } from '../../formatting/person.ts';
import classes from './AdminDashboard.module.css';
import { StatisticsCard } from './StatisticsCard.tsx';
import { texts } from './texts.ts';

/** The first screen of the admin area: statistics, and links to four other screens. */
export function AdminDashboard() {
  const { user } = useAuth();
  if (user === null) return null; // the route guard redirects to the sign-in

  return (
    <>
      <Title order={1} mb="xl" className={classes.welcome}>
        {texts.welcome(nameOf(user))}
      </Title>
      <div className={classes.panels}>
        <div className={classes.subjects}>
          <Panel title={texts.userManagement}>
            <Text mb="lg">{texts.userManagementHint}</Text>
            <Button component={Link} to="/admin/users">
              {texts.openUserManagement}
            </Button>
          </Panel>
          <Panel title={texts.slideManagement}>
            <Text mb="lg">{texts.slideManagementHint}</Text>
            <Button component={Link} to="/admin/slides" variant="default">
              {texts.openSlides}
            </Button>
          </Panel>
          <Panel title={texts.audit}>
            <Text mb="lg">{texts.auditHint}</Text>
            <Button component={Link} to="/admin/audit" variant="default">
              {texts.openAudit}
            </Button>
          </Panel>
          <Panel title={texts.apiTokens}>
            <Text mb="lg">{texts.apiTokensHint}</Text>
            <Button component={Link} to="/admin/api-tokens" variant="default">
              {texts.openApiTokens}
            </Button>
          </Panel>
        </div>
        <StatisticsCard />
      </div>
    </>
  );
}
