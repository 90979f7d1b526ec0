import { zodResolver } from '@hookform/resolvers/zod';
import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { Link, useNavigate } from 'react-router';
import { z } from 'zod';
import { confirmRegistration } from '../../api/auth.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { useMailedCode } from '../../forms/use-mailed-code.ts';
import { failWith } from '../../forms/validation.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

const Confirmation = z.object({
  password: z.string().min(
    1,
    failWith(() => sharedTexts.passwordRequired), // a function, because the language may change
  ),
});

/** The page that the link (`#code=…`) in the confirmation e-mail opens. The user confirms the registration with the chosen password. */
export function ConfirmRegistration() {
  const [code] = useMailedCode();

  return (
    <Stack gap="lg">
      <Title order={1} size="h2">
        {texts.heading}
      </Title>
      {code === null ? <Text>{texts.linkMissing}</Text> : <ConfirmForm key={code} code={code} />}
      <Anchor component={Link} to="/auth/login" ta="center">
        {texts.backToLogin}
      </Anchor>
    </Stack>
  );
}

function ConfirmForm({ code }: { readonly code: string }) {
  const navigate = useNavigate();
  const [isLinkInvalid, setLinkInvalid] = useState(false);
  const { register, handleSubmit, formState, setError } = useForm({
    resolver: zodResolver(Confirmation),
    defaultValues: { password: '' },
  });

  const submit = handleSubmit(async ({ password }) => {
    const result = await confirmRegistration(code, password);
    if (!result.success && result.error === 'credentials_invalid') {
      setError('password', { message: result.message }, { shouldFocus: true });
      return;
    }
    announce(result);
    if (result.success) await navigate('/auth/login');
    else setLinkInvalid(result.error === 'confirmation_link_invalid');
  });

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <Text c="dimmed">{texts.hint}</Text>
        <PasswordField
          {...register('password')}
          label={sharedTexts.password}
          autoComplete="current-password"
          error={formState.errors.password?.message}
        />
        <Button type="submit" fullWidth loading={formState.isSubmitting}>
          {texts.submit}
        </Button>
        {isLinkInvalid && (
          <Button component={Link} to="/auth/register" variant="default" fullWidth>
            {texts.registerAgain}
          </Button>
        )}
      </Stack>
    </form>
  );
}
