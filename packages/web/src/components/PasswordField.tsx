import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useId } from 'react';
import { texts } from '../language/texts.ts';

/** A password field with a button that shows the password. */
export function PasswordField({ error, description, ...props }: PasswordInputProps) {
  const id = useId();
  // Unlike Mantine's other fields, its password field does not link the messages to the input.
  const describedBy = [description && `${id}-description`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <PasswordInput
      id={id}
      error={error}
      description={description}
      aria-invalid={Boolean(error)}
      aria-describedby={describedBy || undefined}
      visibilityToggleFocusable
      // A title instead of a label: with a label, tests and screen readers would find it in place of the field.
      visibilityToggleButtonProps={{ 'aria-label': undefined, title: texts.showTyped }}
      {...props}
    />
  );
}
