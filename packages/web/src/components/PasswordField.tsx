import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { texts } from '../texts.ts';

/** A password, with a button that shows what is typed. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput visibilityToggleButtonProps={{ 'aria-label': texts.showTyped }} {...props} />;
}
