import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack } from '@mantine/core';
import { useMemo } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { z } from 'zod';
import { changePassword } from '../../api/profile.ts';
import { NewPassword, NewPasswordFields } from '../../components/NewPasswordFields.tsx';
import { Panel } from '../../components/Panel.tsx';
import { passwordsDifferOptions, passwordsMatch } from '../../forms/validation.ts';
import { announce } from '../../notifications/notify.ts';
import { CurrentPasswordField } from './CurrentPasswordField.tsx';
import { texts } from './texts.ts';
import { useCurrentPassword } from './use-current-password.ts';

const emptyForm = { currentPassword: '', password: '', passwordConfirmation: '' };

interface ChangePasswordCardProps {
  /** E-mail address of the account. A hidden field contains it, so that password managers know whose password changes. */
  readonly email: string;
}

/** Card of the profile that changes the password. It asks for the current password only when the API requires it. */
export function ChangePasswordCard({ email }: ChangePasswordCardProps) {
  const currentPasswordState = useCurrentPassword();
  // The schema is built from the shape of `NewPassword`, because zod cannot extend a schema that has a `refine`.
  const resolver = useMemo(
    () =>
      zodResolver(
        z
          .object({ currentPassword: currentPasswordState.schema, ...NewPassword.shape })
          .refine(passwordsMatch, passwordsDifferOptions),
      ),
    [currentPasswordState.schema],
  );
  const form = useForm({ resolver, defaultValues: emptyForm });

  const submit = form.handleSubmit(async ({ currentPassword, password }) => {
    const result = await changePassword(password, currentPassword);
    const passwordError = currentPasswordState.handlePasswordError(result);
    if (passwordError !== null) {
      form.setError('currentPassword', passwordError, { shouldFocus: true });
    } else if (!result.success && result.field === 'new_password') {
      form.setError('password', { message: result.message }, { shouldFocus: true });
    } else {
      announce(result);
      if (!result.success) return;
      form.reset();
      currentPasswordState.reset();
    }
  });

  return (
    <Panel title={texts.changePassword}>
      <FormProvider {...form}>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <Stack>
            {currentPasswordState.isRequired && <CurrentPasswordField />}
            <NewPasswordFields />
            <Button type="submit" loading={form.formState.isSubmitting} style={{ alignSelf: 'flex-start' }}>
              {texts.changePasswordSubmit}
            </Button>
          </Stack>
        </form>
      </FormProvider>
    </Panel>
  );
}
