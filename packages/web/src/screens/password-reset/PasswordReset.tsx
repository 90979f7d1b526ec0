import { Anchor, Stack, Title } from '@mantine/core';
import { Link } from 'react-router';
import { useMailedCode } from '../../forms/use-mailed-code.ts';
import { NewPasswordForm } from './NewPasswordForm.tsx';
import { RequestForm } from './RequestForm.tsx';
import { texts } from './texts.ts';

/** The password reset page. The user requests an e-mail, whose link (`#code=…`) opens this page again to set a new password. */
export function PasswordReset() {
  const [code, forgetCode] = useMailedCode();

  return (
    <Stack gap="lg">
      <Title order={1} size="h2">
        {texts.heading}
      </Title>
      {code === null ? (
        <RequestForm />
      ) : (
        <NewPasswordForm key={code} code={code} onAnotherLink={forgetCode} />
      )}
      <Anchor component={Link} to="/auth/login" ta="center">
        {texts.backToLogin}
      </Anchor>
    </Stack>
  );
}
