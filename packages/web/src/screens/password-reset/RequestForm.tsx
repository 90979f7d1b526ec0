import { zodResolver } from '@hookform/resolvers/zod';
import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { IconMailCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { requestPasswordReset } from '../../api/auth.ts';
import { EmailField } from '../../forms/validation.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

const ResetRequest = z.object({ email: EmailField });

/**
 * Form that requests an e-mail with a link for resetting the password. The response is the same for known and unknown
 * addresses, so it does not reveal who has an account.
 */
export function RequestForm() {
  /** Message of the server after a successful request; null before the request. */
  const [successMessage, setSuccessMessage] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(ResetRequest),
    defaultValues: { email: '' },
  });

  const submit = handleSubmit(async ({ email }) => {
    const result = await requestPasswordReset(email);
    if (result.success) setSuccessMessage(result.message);
    else announce(result);
  });

  if (successMessage !== null) {
    return (
      <Alert role="status" color="haematoxylin" icon={<IconMailCheck aria-hidden />}>
        {successMessage}
      </Alert>
    );
  }
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <Text c="dimmed">{texts.requestHint}</Text>
        <TextInput
          {...register('email')}
          label={sharedTexts.email}
          type="email"
          autoComplete="username"
          error={formState.errors.email?.message}
        />
        <Button type="submit" fullWidth loading={formState.isSubmitting}>
          {texts.requestSubmit}
        </Button>
      </Stack>
    </form>
  );
}
