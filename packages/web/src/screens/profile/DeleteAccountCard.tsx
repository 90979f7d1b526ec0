import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { z } from 'zod';
import { deleteAccount } from '../../api/profile.ts';
import { Panel } from '../../components/Panel.tsx';
import { failWith } from '../../forms/validation.ts';
import { announce } from '../../notifications/notify.ts';
import { CurrentPasswordField } from './CurrentPasswordField.tsx';
import { texts } from './texts.ts';
import { useCurrentPassword } from './use-current-password.ts';

/** Returns a schema that accepts only this e-mail address, in upper or lower case. */
function confirmationSchemaOf(email: string) {
  return z
    .string()
    .trim()
    .refine(
      (typed) => typed.toLowerCase() === email.toLowerCase(),
      failWith(() => texts.deleteNotConfirmed), // a function, because the language may change
    );
}

interface DeleteAccountCardProps {
  /** E-mail address of the account, which the user types to confirm the deletion. */
  readonly email: string;
}

/** Card of the profile in which the user permanently deletes the account. */
export function DeleteAccountCard({ email }: DeleteAccountCardProps) {
  const navigate = useNavigate();
  const currentPasswordState = useCurrentPassword();
  const resolver = useMemo(
    () =>
      zodResolver(
        z.object({ confirmation: confirmationSchemaOf(email), currentPassword: currentPasswordState.schema }),
      ),
    [email, currentPasswordState.schema],
  );
  const form = useForm({ resolver, defaultValues: { confirmation: '', currentPassword: '' } });

  const submit = form.handleSubmit(async ({ currentPassword }) => {
    const result = await deleteAccount(currentPassword);
    const passwordError = currentPasswordState.handlePasswordError(result);
    if (passwordError !== null) {
      form.setError('currentPassword', passwordError, { shouldFocus: true });
    } else {
      announce(result);
      if (result.success) await navigate('/auth/login');
    }
  });

  return (
    <Panel title={texts.deleteAccount}>
      <FormProvider {...form}>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack>
            <Text>{texts.deleteExplanation}</Text>
            <TextInput
              {...form.register('confirmation')}
              label={texts.deleteConfirmation(email)}
              autoComplete="off"
              error={form.formState.errors.confirmation?.message}
            />
            {currentPasswordState.isRequired && <CurrentPasswordField />}
            <Button
              type="submit"
              color="eosin" // the theme's rose, named after the stain
              variant="outline"
              loading={form.formState.isSubmitting}
              style={{ alignSelf: 'flex-start' }}
            >
              {texts.deleteSubmit}
            </Button>
          </Stack>
        </form>
      </FormProvider>
    </Panel>
  );
}
