import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useId } from 'react';
import { texts } from '../texts.ts';

/** A password, with a button that shows what is typed. */
export function PasswordField({ error, description, ...props }: PasswordInputProps) {
  const id = useId();
  // Unlike the library's other fields, its password field does not tie its sentences to the input.
  const describedBy = [description && `${id}-description`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <PasswordInput
      id={id}
      error={error}
      description={description}
      aria-invalid={Boolean(error)}
      aria-describedby={describedBy || undefined}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': texts.showTyped }}
      {...props}
    />
  );
}
