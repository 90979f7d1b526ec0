import { zodResolver } from '@hookform/resolvers/zod';
import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from 'react-hook-form';
import { Link, useNavigate } from 'react-router';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { login } from '../../api/auth.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as shared } from '../../texts.ts';
import { EmailField } from '../../validation.ts';
import { texts } from './texts.ts';

const LoginForm = z.object({
  email: EmailField,
  password: z.string().min(1, shared.passwordRequired),
});

/** Signing in with e-mail and password. */
export function PasswordLogin() {
  const navigate = useNavigate();
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(LoginForm),
    defaultValues: { email: '', password: '' },
  });

  const submit = handleSubmit(async ({ email, password }) => {
    const result = await login(email, password);
    announce(result);
    if (result.success) await navigate('/dashboard');
  });

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
