import { zodResolver } from '@hookform/resolvers/zod';
import type { User } from '@lamina/contract';
import { Button, Modal, Stack, Text } from '@mantine/core';
import { FormProvider, useForm } from 'react-hook-form';
import { announce } from '../../announce.ts';
import { setPassword } from '../../api/users.ts';
import { NewPassword, NewPasswordFields } from '../../components/NewPasswordFields.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { nameOf } from '../../person.ts';
import { texts as shared } from '../../texts.ts';
import { texts } from './texts.ts';

interface SetPasswordDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** An administrator gives an account a new password, as when its owner has no mail. */
export function SetPasswordDialog({ user, onClose }: SetPasswordDialogProps) {
  useReturnFocus();
  const form = useForm({
    resolver: zodResolver(NewPassword),
    defaultValues: { password: '', passwordConfirmation: '' },
  });

  const submit = form.handleSubmit(async ({ password }) => {
    const result = await setPassword(user.uid, password);
    if (!result.success && result.field === 'new_password') {
      form.setError('password', { message: result.message }, { shouldFocus: true });
      return;
    }
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
      <FormProvider {...form}>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack>
            <Text>{texts.setPasswordHint(nameOf(user))}</Text>
            <NewPasswordFields takesFocus />
            <Button type="submit" loading={form.formState.isSubmitting}>
              {texts.setPasswordSubmit}
            </Button>
          </Stack>
        </form>
      </FormProvider>
    </Modal>
  );
}
