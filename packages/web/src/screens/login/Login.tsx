import { Anchor, Divider, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { settings } from '../../browser/settings.ts';
import { ExternalSignIn } from './ExternalSignIn.tsx';
import { PasswordLogin } from './PasswordLogin.tsx';
import { texts } from './texts.ts';

/** The login page: sign-in with e-mail and password, with an external identity provider, or both. */
export function Login() {
  const { embedded: isEmbeddedOffered, external: provider } = settings.signIn; // embedded: with e-mail and password
  return (
    <Stack gap="lg">
      <Title order={1} size="h2">
        {texts.heading}
      </Title>
      {isEmbeddedOffered && <PasswordLogin />}
      {isEmbeddedOffered && provider && <Divider label={texts.or} />}
      {provider && <ExternalSignIn providerName={provider.name} isOnlyWay={!isEmbeddedOffered} />}
      {isEmbeddedOffered && (
        <Group gap="xs" justify="center">
          <Text>{texts.noAccount}</Text>
          <Anchor component={Link} to="/auth/register">
            {texts.register}
          </Anchor>
        </Group>
      )}
    </Stack>
  );
}
