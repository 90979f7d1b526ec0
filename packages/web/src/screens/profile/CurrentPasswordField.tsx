import { useEffect } from 'react';
import { useFormContext } from 'react-hook-form';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { CurrentPassword } from './use-current-password.ts';

/** Field for the current password in a form of the profile. It takes the focus when it appears, because the user must fill it in next. */
export function CurrentPasswordField() {
  const { register, formState, setFocus } = useFormContext<CurrentPassword>();
  useEffect(() => setFocus('currentPassword'), [setFocus]);
  return (
    <PasswordField
      {...register('currentPassword')}
      label={sharedTexts.currentPassword}
      autoComplete="current-password"
      error={formState.errors.currentPassword?.message}
    />
  );
}
