import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useId } from 'react';
import { texts } from '../language/texts.ts';

/** A password field with a button that shows the password. */
export function PasswordField({ error, description, ...props }: PasswordInputProps) {
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
      visibilityToggleButtonProps={{ 'aria-label': undefined, title: texts.showTyped }}
      {...props}
    />
  );
}
