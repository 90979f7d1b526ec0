import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { useForm } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { deleteAccount } from '../../api/profile.ts';
import { Panel } from '../../components/Panel.tsx';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as shared } from '../../texts.ts';
import { texts } from './texts.ts';

function deletionForm(email: string, asksCurrent: boolean) {
  return z.object({
    confirmation: z
      .string()
      .trim()
      .refine((typed) => typed.toLowerCase() === email.toLowerCase(), texts.deleteNotConfirmed),
    currentPassword: asksCurrent ? z.string().min(1, shared.currentPasswordRequired) : z.string(),
  });
}

interface DeleteAccountCardProps {
  /** Of the account; typed again to confirm. */
  readonly email: string;
}

/** The way to leave for good. */
export function DeleteAccountCard({ email }: DeleteAccountCardProps) {
  const navigate = useNavigate();
  const [asksCurrent, setAsksCurrent] = useState(false);
  const resolver = useMemo(() => zodResolver(deletionForm(email, asksCurrent)), [email, asksCurrent]);
  const { register, handleSubmit, formState, setError, setFocus } = useForm({
    resolver,
    defaultValues: { confirmation: '', currentPassword: '' },
  });
  const { errors, isSubmitting } = formState;

  useEffect(() => {
    if (asksCurrent) setFocus('currentPassword');
  }, [asksCurrent, setFocus]);

  const submit = handleSubmit(async ({ currentPassword }) => {
    const result = await deleteAccount(currentPassword);
    if (result.success) {
      announce(result);
      await navigate('/auth/login');
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
    <Panel title={texts.deleteAccount}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <Text>{texts.deleteExplanation}</Text>
          <TextInput
            {...register('confirmation')}
            label={texts.deleteConfirmation(email)}
            autoComplete="off"
            error={errors.confirmation?.message}
          />
          {asksCurrent && (
            <PasswordField
              {...register('currentPassword')}
              label={shared.currentPassword}
              autoComplete="current-password"
              error={errors.currentPassword?.message}
            />
          )}
          <Button
            type="submit"
            color="eosin"
            variant="outline"
            loading={isSubmitting}
            style={{ alignSelf: 'flex-start' }}
          >
            {texts.deleteSubmit}
          </Button>
        </Stack>
      </form>
    </Panel>
  );
}
