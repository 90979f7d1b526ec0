import { zodResolver } from '@hookform/resolvers/zod';
import type { User } from '@lamina/contract';
import { Text } from '@mantine/core';
import { FormProvider, useForm } from 'react-hook-form';
import { setPassword } from '../../api/users.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { NewPassword, NewPasswordFields } from '../../components/NewPasswordFields.tsx';
import { nameOf } from '../../formatting/person.ts';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

interface SetPasswordDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** Dialog that sets a new password for an account, for example when its owner receives no e-mail. */
export function SetPasswordDialog({ user, onClose }: SetPasswordDialogProps) {
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
    <FormProvider {...form}>
      <FormDialog
        title={texts.setPassword}
        submitLabel={texts.setPasswordSubmit}
        isRunning={form.formState.isSubmitting}
        onSubmit={() => void submit()}
        onClose={onClose}
      >
        <Text>{texts.setPasswordHint(nameOf(user))}</Text>
        <NewPasswordFields takesFocus />
      </FormDialog>
    </FormProvider>
  );
}
