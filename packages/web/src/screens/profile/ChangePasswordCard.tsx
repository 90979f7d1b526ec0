import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { changePassword } from '../../api/profile.ts';
import { Panel } from '../../components/Panel.tsx';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as shared } from '../../texts.ts';
import { isTypedTwice, NewPasswordField, typedTwice } from '../../validation.ts';
import { texts } from './texts.ts';

const PasswordChange = z
  .object({ currentPassword: z.string(), password: NewPasswordField, passwordConfirmation: z.string() })
  .refine(isTypedTwice, typedTwice);

const PasswordChangeWithCurrent = z
  .object({
    currentPassword: z.string().min(1, shared.currentPasswordRequired),
    password: NewPasswordField,
    passwordConfirmation: z.string(),
  })
  .refine(isTypedTwice, typedTwice);

interface ChangePasswordCardProps {
  /** Of the account, for the browser's store of passwords. */
  readonly email: string;
}

/** A new password; the current one is asked for only when the API wants it (an older sign-in). */
export function ChangePasswordCard({ email }: ChangePasswordCardProps) {
  const [asksCurrent, setAsksCurrent] = useState(false);
  const resolver = useMemo(
    () => zodResolver(asksCurrent ? PasswordChangeWithCurrent : PasswordChange),
    [asksCurrent],
  );
  const { register, handleSubmit, formState, reset, setError, setFocus } = useForm({
    resolver,
    defaultValues: { currentPassword: '', password: '', passwordConfirmation: '' },
  });
  const { errors, isSubmitting } = formState;

  useEffect(() => {
    if (asksCurrent) setFocus('currentPassword');
  }, [asksCurrent, setFocus]);

  const submit = handleSubmit(async ({ currentPassword, password }) => {
    const result = await changePassword(password, currentPassword);
    if (result.success) {
      reset();
      setAsksCurrent(false);
      announce(result);
    } else if (result.error === 'reauth_required') {
      setAsksCurrent(true);
      setError('currentPassword', { message: result.message });
    } else if (result.error === 'credentials_invalid') {
      setError('currentPassword', { message: shared.currentPasswordWrong }, { shouldFocus: true });
    } else {
      announce(result);
    }
  });

  return (
    <Panel title={texts.changePassword}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Stack>
          {asksCurrent && (
            <PasswordField
              {...register('currentPassword')}
              label={shared.currentPassword}
              autoComplete="current-password"
              error={errors.currentPassword?.message}
            />
          )}
          <PasswordField
            {...register('password')}
            label={shared.newPassword}
            description={shared.passwordHint}
            autoComplete="new-password"
            error={errors.password?.message}
          />
          <PasswordField
            {...register('passwordConfirmation')}
            label={shared.newPasswordConfirmation}
            autoComplete="new-password"
            error={errors.passwordConfirmation?.message}
          />
          <Button type="submit" loading={isSubmitting} style={{ alignSelf: 'flex-start' }}>
            {texts.changePasswordSubmit}
          </Button>
        </Stack>
      </form>
    </Panel>
  );
}
