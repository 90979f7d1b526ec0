import { zodResolver } from '@hookform/resolvers/zod';
import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { Link, useNavigate } from 'react-router';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import type { ActionResult } from '../../api/action-result.ts';
import { login } from '../../api/auth.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as shared } from '../../texts.ts';
import { EmailField, say } from '../../validation.ts';
import { SecondFactorForm } from './SecondFactorForm.tsx';
import { texts } from './texts.ts';

const LoginForm = z.object({
  email: EmailField,
  password: z.string().min(
    1,
    say(() => shared.passwordRequired),
  ),
});
type Credentials = z.output<typeof LoginForm>;

/** Signing in with e-mail and password, and with a code where the account asks for one. */
export function PasswordLogin() {
  const navigate = useNavigate();
  const [asksCodeFor, setAsksCodeFor] = useState<Credentials | null>(null);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(LoginForm),
    defaultValues: { email: '', password: '' },
  });

  async function enter({ email, password }: Credentials, code: string): Promise<ActionResult> {
    const result = await login(email, password, code);
    if (result.success) {
      announce(result);
      await navigate('/dashboard');
    }
    return result;
  }

  const submit = handleSubmit(async (credentials) => {
    const result = await enter(credentials, '');
    if (result.success) return;
    if (result.error === 'second_factor_required') setAsksCodeFor(credentials);
    else announce(result);
  });

  if (asksCodeFor !== null) {
    return (
      <SecondFactorForm onCode={(code) => enter(asksCodeFor, code)} onBack={() => setAsksCodeFor(null)} />
    );
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <TextInput
          {...register('email')}
          label={shared.email}
          type="email"
          autoComplete="username"
          error={formState.errors.email?.message}
        />
        <div>
          <PasswordField
            {...register('password')}
            label={shared.password}
            autoComplete="current-password"
            error={formState.errors.password?.message}
          />
          <Anchor component={Link} to="/auth/password-reset" size="sm" mt="xs" display="inline-block">
            {texts.forgotten}
          </Anchor>
        </div>
        <Button type="submit" fullWidth loading={formState.isSubmitting}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}
