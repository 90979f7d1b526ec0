import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { NewPasswordField, passwordsDifferOptions, passwordsMatch } from '../forms/validation.ts';
import { texts } from '../language/texts.ts';
import { PasswordField } from './PasswordField.tsx';
import { PasswordStrength } from './PasswordStrength.tsx';

/**
 * Schema of `NewPasswordFields`. Zod cannot extend a schema that has a `refine`, so a form with further fields builds its own schema from
 * the `shape` of this one and calls `refine` itself.
 */
export const NewPassword = z
  .object({ password: NewPasswordField, passwordConfirmation: z.string() })
  .refine(passwordsMatch, passwordsDifferOptions);

interface NewPasswordFieldsProps {
  /** Whether a dialog focuses the first field when it opens. */
  readonly takesFocus?: boolean;
}

/** A new password and its confirmation, in a form with the values `password` and `passwordConfirmation`. */
export function NewPasswordFields({ takesFocus = false }: NewPasswordFieldsProps) {
  const { register, formState, control } = useFormContext<z.input<typeof NewPassword>>();
  const { errors } = formState;
  const password = useWatch({ control, name: 'password' });
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
      <PasswordStrength password={password} />
      <PasswordField
        {...register('passwordConfirmation')}
        label={texts.newPasswordConfirmation}
        autoComplete="new-password"
        error={errors.passwordConfirmation?.message}
      />
    </>
  );
}
