import type { Language } from '@lamina/contract';
import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useId } from 'react';
import { dialogTexts } from './texts.ts';

interface PasswordFieldProps extends PasswordInputProps {
  /** Language of the button's name until the user chooses one: 'en' in the WSI Viewer. */
  readonly languageBeforeChoice?: Language;
}

/** A password field with a button that shows the password. */
export function PasswordField({
  languageBeforeChoice = 'tr',
  error,
  description,
  ...props
}: PasswordFieldProps) {
  const id = useId();
  // Unlike Mantine's other fields, `PasswordInput` does not set `aria-describedby` to its description and error.
  const describedBy = [description && `${id}-description`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <PasswordInput
      id={id}
      error={error}
      description={description}
      aria-invalid={Boolean(error)}
      aria-describedby={describedBy || undefined}
      visibilityToggleFocusable
      // A title replaces Mantine's `aria-label`, because a search for the label 'Password' would find the button as well as the field.
      visibilityToggleButtonProps={{
        'aria-label': undefined,
        title: dialogTexts[languageBeforeChoice].showTyped,
      }}
      {...props}
    />
  );
}
