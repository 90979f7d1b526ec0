import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { setPasswordByCode } from '../../api/auth.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as shared } from '../../texts.ts';
import { isTypedTwice, NewPasswordField, typedTwice } from '../../validation.ts';
import { texts } from './texts.ts';

const NewPassword = z
  .object({ password: NewPasswordField, passwordConfirmation: z.string() })
  .refine(isTypedTwice, typedTwice);

interface NewPasswordFormProps {
  /** From the mailed link. */
  readonly code: string;
  readonly onAnotherLink: () => void;
}

export function NewPasswordForm({ code, onAnotherLink }: NewPasswordFormProps) {
  const navigate = useNavigate();
  const [isLinkSpent, setLinkSpent] = useState(false);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(NewPassword),
    defaultValues: { password: '', passwordConfirmation: '' },
  });
  const { errors, isSubmitting } = formState;

  const submit = handleSubmit(async ({ password }) => {
    const result = await setPasswordByCode(code, password);
    announce(result);
    if (result.success) await navigate('/auth/login');
    else setLinkSpent(result.error === 'reset_link_invalid');
  });

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <Text c="dimmed">{texts.newPasswordHint}</Text>
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
        <Button type="submit" fullWidth loading={isSubmitting}>
          {texts.newPasswordSubmit}
        </Button>
        {isLinkSpent && (
          <Button variant="default" fullWidth onClick={onAnotherLink}>
            {texts.anotherLink}
          </Button>
        )}
      </Stack>
    </form>
  );
}
