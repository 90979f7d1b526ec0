import { Stack, Title } from '@mantine/core';
import { useAuth } from '../../api/auth-state.ts';
import { AccountCard } from './AccountCard.tsx';
import { ChangePasswordCard } from './ChangePasswordCard.tsx';
import { DeleteAccountCard } from './DeleteAccountCard.tsx';
import { SecondFactorCard } from './SecondFactorCard.tsx';
import { SignInsCard } from './SignInsCard.tsx';
import { texts } from './texts.ts';

/** The own account: what is known of it, how it is entered, and the way to leave for good. */
export function Profile() {
  const { user } = useAuth();
  if (user === null) return null; // the guard is about to lead away

  return (
    <Stack maw="46rem" mx="auto" gap="lg">
      <Title order={1}>{texts.heading}</Title>
      <AccountCard />
      <ChangePasswordCard email={user.email} />
      <SecondFactorCard />
      <SignInsCard />
      <DeleteAccountCard email={user.email} />
    </Stack>
  );
}
