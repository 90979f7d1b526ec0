import { zodResolver } from '@hookform/resolvers/zod';
import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { IconMailCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import { requestPasswordReset } from '../../api/auth.ts';
import { texts as shared } from '../../texts.ts';
import { EmailField } from '../../validation.ts';
import { texts } from './texts.ts';

const ResetRequest = z.object({ email: EmailField });

/** Asks for the mail; the answer is the same whether or not the address is known. */
export function RequestForm() {
  const [sent, setSent] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(ResetRequest),
    defaultValues: { email: '' },
  });

  const submit = handleSubmit(async ({ email }) => {
    const result = await requestPasswordReset(email);
    if (result.success) setSent(result.message);
    else announce(result);
  });

  if (sent !== null) {
    return (
      <Alert role="status" color="haematoxylin" icon={<IconMailCheck aria-hidden />}>
        {sent}
      </Alert>
    );
  }
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <Text c="dimmed">{texts.requestHint}</Text>
        <TextInput
          {...register('email')}
          label={shared.email}
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
