import { Button, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import { Navigate, useNavigate } from 'react-router';
import { logout } from '../../api/auth.ts';
import { useAuth } from '../../api/auth-state.ts';
import { useProfile } from '../../api/profile.ts';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { PendingBanner } from '../../components/PendingBanner.tsx';
import classes from './AccountStatus.module.css';
import { pageStatusLabel, texts } from './texts.ts';

const askAgainMs = 30_000;

/** Where an account that is not active is confined. Asks again by itself; one that has become active goes on. */
export function AccountStatus() {
  const { user } = useAuth();
  const navigate = useNavigate();
  const { refetch } = useProfile({ askAgainMs });

  useEffect(() => {
    const askAgain = () => void refetch();
    window.addEventListener('focus', askAgain);
    return () => window.removeEventListener('focus', askAgain);
  }, [refetch]);

  if (user === null) return null; // the guard is about to lead away
  if (user.status === 'active') return <Navigate to="/dashboard" replace />;

  /** The sign-in ends first, so that another account can sign in. */
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
        <Text>{texts.contact}</Text>
        <Button variant="default" fullWidth onClick={() => void backToLogin()}>
          {texts.backToLogin}
        </Button>
      </Stack>
    </CenteredPage>
  );
}
