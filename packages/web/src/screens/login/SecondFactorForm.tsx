import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, TextInput } from '@mantine/core';
import { useEffect } from 'react';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { failWith } from '../../forms/validation.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

const CodeForm = z.object({
  code: z
    .string()
    .trim()
    .min(
      1,
      failWith(() => texts.codeRequired), // a function, because the language may change
    ),
});

interface SecondFactorFormProps {
  /** Signs in with the code. */
  readonly onCode: (code: string) => Promise<ActionResult>;
  /** Returns to the first step, for example to sign in with another account. */
  readonly onBack: () => void;
}

/** The second step of the sign-in, which asks for a code from the authenticator app or for a recovery code. */
export function SecondFactorForm({ onCode, onBack }: SecondFactorFormProps) {
  const { register, handleSubmit, formState, setError, setFocus, setValue } = useForm({
    resolver: zodResolver(CodeForm),
    defaultValues: { code: '' },
  });
  useEffect(() => setFocus('code'), [setFocus]);

  const submit = handleSubmit(async ({ code }) => {
    const result = await onCode(code);
    if (result.success) return;
    if (result.error === 'second_factor_invalid') {
      setValue('code', '');
      setError('code', { message: result.message }, { shouldFocus: true });
    } else announce(result);
  });

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <TextInput
          {...register('code')}
          label={texts.code}
          description={texts.codeHint}
          autoComplete="one-time-code"
          autoCapitalize="off"
          spellCheck={false}
          error={formState.errors.code?.message}
        />
        <Button type="submit" fullWidth loading={formState.isSubmitting}>
          {texts.codeSubmit}
        </Button>
        <Button variant="default" fullWidth onClick={onBack}>
          {texts.codeBack}
        </Button>
      </Stack>
    </form>
  );
}
