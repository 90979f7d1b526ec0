import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { announce } from '../../announce.ts';
import { setPasswordByCode } from '../../api/auth.ts';
import { NewPassword, NewPasswordFields } from '../../components/NewPasswordFields.tsx';
import { texts } from './texts.ts';

interface NewPasswordFormProps {
  /** From the mailed link. */
  readonly code: string;
  readonly onAnotherLink: () => void;
}

export function NewPasswordForm({ code, onAnotherLink }: NewPasswordFormProps) {
  const navigate = useNavigate();
  const [isLinkSpent, setLinkSpent] = useState(false);
  const form = useForm({
    resolver: zodResolver(NewPassword),
    defaultValues: { password: '', passwordConfirmation: '' },
  });

  const submit = form.handleSubmit(async ({ password }) => {
    const result = await setPasswordByCode(code, password);
    if (!result.success && result.field === 'new_password') {
      form.setError('password', { message: result.message }, { shouldFocus: true });
      return;
    }
    announce(result);
    if (result.success) await navigate('/auth/login');
    else setLinkSpent(result.error === 'reset_link_invalid');
  });

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="lg">
          <Text c="dimmed">{texts.newPasswordHint}</Text>
          <NewPasswordFields />
          <Button type="submit" fullWidth loading={form.formState.isSubmitting}>
            {texts.newPasswordSubmit}
          </Button>
          {isLinkSpent && (
            <Button variant="default" fullWidth onClick={onAnotherLink}>
              {texts.anotherLink}
            </Button>
          )}
        </Stack>
      </form>
    </FormProvider>
  );
}
