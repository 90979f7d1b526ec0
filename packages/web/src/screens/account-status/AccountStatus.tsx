import type { User } from '@lamina/contract';
import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import { Navigate, useNavigate } from 'react-router';
import { logout } from '../../api/auth.ts';
import { useAuth } from '../../api/auth-state.ts';
import { useProfile } from '../../api/profile.ts';
import { settings } from '../../browser/settings.ts';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { PendingBanner } from '../../components/PendingBanner.tsx';
import { formatDate } from '../../formatting/dates.ts';
import classes from './AccountStatus.module.css';
import { pageStatusLabel, texts } from './texts.ts';

const refetchIntervalMs = 30_000;

/**
 * The screen to which the route guard redirects an account that is not active. It requests the profile every 30 s (`useProfile`
 * then also updates the signed-in user), and redirects to the dashboard once the account is active.
 */
export function AccountStatus() {
  const { user } = useAuth();
  const navigate = useNavigate();
  const { data: profile, refetch } = useProfile({ refetchIntervalMs });

  // A user who returns to the window sees the current status without waiting for the next request.
  useEffect(() => {
    const reload = () => void refetch();
    window.addEventListener('focus', reload);
    return () => window.removeEventListener('focus', reload);
  }, [refetch]);

  if (user === null) return null; // signed out: the route guard redirects next
  if (user.status === 'active') return <Navigate to="/dashboard" replace />;

  /** Signs out (in this browser even when the call fails) and opens the login page, where another account can sign in. */
  async function backToLogin() {
    await logout();
    await navigate('/auth/login');
  }

  return (
    <CenteredPage banner={user.status === 'pending' && <PendingBanner />}>
      <Stack align="center" ta="center" gap="lg">
        <Title order={1} size="h4" c="dimmed">
          {texts.heading}
        </Title>
        <Text className={classes.status} data-status={user.status} role="status">
          {pageStatusLabel(user.status)}
        </Text>
        {profile?.decisionReason && (
          <div className={classes.reason}>
            <Text fw={600}>{texts.reason}</Text>
            <Text>{profile.decisionReason}</Text>
          </div>
        )}
        {hasExpired(user) && <Text>{texts.ended(formatDate(user.expiresAt))}</Text>}
        <Text>{texts.contact}</Text>
        {settings.contact !== null && <Contact contact={settings.contact} />}
        <Button variant="default" fullWidth onClick={() => void backToLogin()}>
          {texts.backToLogin}
        </Button>
      </Stack>
    </CenteredPage>
  );
}

/** Shows the contact from the settings: an e-mail address as a link, any other text unchanged. */
function Contact({ contact }: { readonly contact: string }) {
  const isEmail = /^\S+@\S+$/.test(contact);
  if (!isEmail) return <Text fw={600}>{contact}</Text>;
  return <Anchor href={`mailto:${contact}`}>{contact}</Anchor>;
}

/** Returns whether the account is suspended and its end date has passed. */
function hasExpired({ status, expiresAt }: User): boolean {
  return status === 'suspended' && expiresAt !== null && new Date(expiresAt) <= new Date();
}
