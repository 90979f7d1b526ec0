import { zodResolver } from '@hookform/resolvers/zod';
import type { ErrorCode } from '@lamina/contract';
import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { Link, useLocation, useNavigate } from 'react-router';
import { z } from 'zod';
import { login } from '../../api/auth.ts';
import { settings } from '../../browser/settings.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { EmailField, failWith } from '../../forms/validation.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import { SecondFactorForm } from './SecondFactorForm.tsx';
import { texts } from './texts.ts';

const LoginForm = z.object({
  email: EmailField,
  password: z.string().min(
    1,
    failWith(() => sharedTexts.passwordRequired), // a function, because the language may change
  ),
});
type Credentials = z.output<typeof LoginForm>;

/** Form of the login page for e-mail and password, followed by a form for the code when the account has a second factor. */
export function PasswordLogin() {
  const navigate = useNavigate();
  const registeredEmail = registeredEmailIn(useLocation().state);
  /** Why the last sign-in failed; null if none failed. The form shows it until the next attempt, because a toast vanishes after 5 s. */
  const [failure, setFailure] = useState<string | null>(null);
  /** Accepted credentials that need a second-factor code; null during the first step. */
  const [acceptedCredentials, setAcceptedCredentials] = useState<Credentials | null>(null);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(LoginForm),
    defaultValues: { email: registeredEmail ?? '', password: '' },
  });

  /** Signs in, and opens the dashboard after a success. @param code second-factor code; empty in the first step */
  async function signIn({ email, password }: Credentials, code: string): Promise<ActionResult> {
    const result = await login(email, password, code);
    if (result.success) {
      announce(result);
      // The route guard may already have redirected to the dashboard. With `replace`, the history has one entry in both cases.
      await navigate('/dashboard', { replace: true });
    }
    return result;
  }

  const submit = handleSubmit(async (credentials) => {
    setFailure(null);
    const result = await signIn(credentials, '');
    if (result.success) return;
    if (result.error === 'second_factor_required') setAcceptedCredentials(credentials);
    else {
      announce(result);
      setFailure(failureSentence(result.error));
    }
  });

  if (acceptedCredentials !== null) {
    return (
      <SecondFactorForm
        onCode={(code) => signIn(acceptedCredentials, code)}
        onBack={() => setAcceptedCredentials(null)}
      />
    );
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        {registeredEmail !== null && (
          <Text role="status" p="sm" bg="var(--tint-haematoxylin)" style={{ borderRadius: '0.5rem' }}>
            {settings.confirmsRegistrations
              ? texts.registrationToConfirm(registeredEmail)
              : texts.registered(registeredEmail)}
          </Text>
        )}
        <TextInput
          {...register('email')}
          label={sharedTexts.email}
          type="email"
          autoComplete="username"
          error={formState.errors.email?.message}
        />
        <div>
          <PasswordField
            {...register('password')}
            label={sharedTexts.password}
            autoComplete="current-password"
            error={formState.errors.password?.message}
          />
          <Anchor component={Link} to="/auth/password-reset" size="sm" mt="xs" display="inline-block">
            {texts.forgotPassword}
          </Anchor>
        </div>
        {failure !== null && <Text c="var(--mantine-color-error)">{failure}</Text>}
        <Button type="submit" fullWidth loading={formState.isSubmitting}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}

/** Returns the sentence about a failed sign-in. @param error null when the API did not respond, or responded without an error code */
function failureSentence(error: ErrorCode | null): string {
  switch (error) {
    case 'credentials_invalid':
      return texts.failedCredentials;
    case 'rate_limited':
      return texts.failedTooOften;
    case 'account_not_active':
      return texts.failedAccount;
    default:
      return texts.failedOtherwise;
  }
}

/** Returns the e-mail address that the registration page has put into the location state; null when there is none. */
function registeredEmailIn(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('registeredEmail' in state)) return null;
  return typeof state.registeredEmail === 'string' ? state.registeredEmail : null;
}
