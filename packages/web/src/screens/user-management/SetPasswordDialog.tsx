import { zodResolver } from '@hookform/resolvers/zod';
import type { User } from '@lamina/contract';
import { Button, Modal, Stack, Text } from '@mantine/core';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { setPassword } from '../../api/users.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { nameOf } from '../../person.ts';
import { texts as shared } from '../../texts.ts';
import { isTypedTwice, NewPasswordField, typedTwice } from '../../validation.ts';
import { texts } from './texts.ts';

const NewPassword = z
  .object({ password: NewPasswordField, passwordConfirmation: z.string() })
  .refine(isTypedTwice, typedTwice);

interface SetPasswordDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** An administrator gives an account a new password, as when its owner has no mail. */
export function SetPasswordDialog({ user, onClose }: SetPasswordDialogProps) {
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(NewPassword),
    defaultValues: { password: '', passwordConfirmation: '' },
  });
  const { errors, isSubmitting } = formState;

  const submit = handleSubmit(async ({ password }) => {
    const result = await setPassword(user.uid, password);
    announce(result);
    if (result.success) onClose();
  });

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.setPassword}
      closeButtonProps={{ 'aria-label': shared.close }}
      centered
      withinPortal={false}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <Text>{texts.setPasswordHint(nameOf(user))}</Text>
          <PasswordField
            {...register('password')}
            label={shared.newPassword}
            description={shared.passwordHint}
            autoComplete="new-password"
            error={errors.password?.message}
            data-autofocus
          />
          <PasswordField
            {...register('passwordConfirmation')}
            label={shared.newPasswordConfirmation}
            autoComplete="new-password"
            error={errors.passwordConfirmation?.message}
          />
          <Button type="submit" loading={isSubmitting}>
            {texts.setPasswordSubmit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
