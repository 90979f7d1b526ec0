import { may } from '@lamina/contract';
import { Stack, Title } from '@mantine/core';
import { useAuth } from '../../api/auth-state.ts';
import { AccountCard } from './AccountCard.tsx';
import { ApiTokensCard } from './ApiTokensCard.tsx';
import { ChangePasswordCard } from './ChangePasswordCard.tsx';
import { DeleteAccountCard } from './DeleteAccountCard.tsx';
import { SecondFactorCard } from './SecondFactorCard.tsx';
import { ShareLinksCard } from './ShareLinksCard.tsx';
import { SignInsCard } from './SignInsCard.tsx';
import { texts } from './texts.ts';

/** The account screen of the signed-in user: profile fields, password, second factor, sign-ins, API tokens, share links and deletion. */
export function Profile() {
  const { user } = useAuth();
  if (user === null) return null; // the route guard redirects to the sign-in page

  return (
    <Stack maw="46rem" mx="auto" gap="lg">
      <Title order={1}>{texts.heading}</Title>
      <AccountCard />
      <ChangePasswordCard email={user.email} />
      <SecondFactorCard />
      <SignInsCard />
      {may(user, 'api-tokens.own') && <ApiTokensCard user={user} />}
      <ShareLinksCard user={user} />
      <DeleteAccountCard email={user.email} />
    </Stack>
  );
}
