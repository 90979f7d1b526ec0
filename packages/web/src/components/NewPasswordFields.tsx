import { useFormContext } from 'react-hook-form';
import { z } from 'zod';
import { texts } from '../texts.ts';
import { isTypedTwice, NewPasswordField, typedTwice } from '../validation.ts';
import { PasswordField } from './PasswordField.tsx';

/** What a form with these fields checks; beside others, spread its shape and refine again. */
export const NewPassword = z
  .object({ password: NewPasswordField, passwordConfirmation: z.string() })
  .refine(isTypedTwice, typedTwice);

interface NewPasswordFieldsProps {
  /** In a dialog: typing may begin as soon as it opens. */
  readonly takesFocus?: boolean;
}

/** A new password, twice. Stands in a form whose values have `password` and `passwordConfirmation`. */
export function NewPasswordFields({ takesFocus = false }: NewPasswordFieldsProps) {
  const { register, formState } = useFormContext<z.input<typeof NewPassword>>();
  const { errors } = formState;
  return (
    <>
      <PasswordField
        {...register('password')}
        label={texts.newPassword}
        description={texts.passwordHint}
        autoComplete="new-password"
        error={errors.password?.message}
        data-autofocus={takesFocus || undefined}
      />
      <PasswordField
        {...register('passwordConfirmation')}
        label={texts.newPasswordConfirmation}
        autoComplete="new-password"
        error={errors.passwordConfirmation?.message}
      />
    </>
  );
}
