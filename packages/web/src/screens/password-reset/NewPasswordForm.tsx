import { zodResolver } from '@hookform/resolvers/zod';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconLinkOff } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { isResetLinkInvalid, setPasswordByCode } from '../../api/auth.ts';
import { NewPassword, NewPasswordFields } from '../../components/NewPasswordFields.tsx';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

interface NewPasswordFormProps {
  /** One-time code from the link in the e-mail. */
  readonly code: string;
  /** Opens the form that requests another link. */
  readonly onAnotherLink: () => void;
}

/**
 * Form that the link in the password-reset e-mail opens. It sets a new password with the code in the link. When the form opens, it asks
 * the server whether the link was used already or has expired.
 */
export function NewPasswordForm({ code, onAnotherLink }: NewPasswordFormProps) {
  const navigate = useNavigate();
  const [isLinkInvalid, setLinkInvalid] = useState(false);
  const form = useForm({
    resolver: zodResolver(NewPassword),
    defaultValues: { password: '', passwordConfirmation: '' },
  });
  useEffect(() => {
    let isMounted = true;
    void isResetLinkInvalid(code).then((isInvalid) => {
      if (isMounted && isInvalid) setLinkInvalid(true);
    });
    return () => {
      isMounted = false;
    };
  }, [code]);

  const submit = form.handleSubmit(async ({ password }) => {
    const result = await setPasswordByCode(code, password);
    if (!result.success && result.field === 'new_password') {
      form.setError('password', { message: result.message }, { shouldFocus: true });
      return;
    }
    announce(result);
    if (result.success) await navigate('/auth/login');
    else if (result.error === 'reset_link_invalid') setLinkInvalid(true);
  });

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="lg">
          {isLinkInvalid ? (
            <Alert
              color="eosin" // the theme's rose, named after the stain
              variant="outline"
              icon={<IconLinkOff aria-hidden />}
              title={texts.linkInvalid}
            >
              <Button variant="default" onClick={onAnotherLink}>
                {texts.requestAnotherLink}
              </Button>
            </Alert>
          ) : (
            <Text c="dimmed">{texts.newPasswordHint}</Text>
          )}
          <NewPasswordFields />
          <Button type="submit" fullWidth loading={form.formState.isSubmitting}>
            {texts.newPasswordSubmit}
          </Button>
        </Stack>
      </form>
    </FormProvider>
  );
}
