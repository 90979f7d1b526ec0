/** The rules of the forms, with their sentences: required first, then the format. */
import { Password, passwordLength, passwordMaxLength, passwordMinLength } from '@lamina/contract';
import { z } from 'zod';
import { texts } from './texts.ts';

/** Trimmed, as the API does. */
export const EmailField = z
  .string()
  .trim()
  .min(1, texts.emailRequired)
  .pipe(z.email(texts.emailInvalid).max(254, texts.emailInvalid));

export const NewPasswordField = newPassword(
  texts.newPasswordRequired,
  texts.newPasswordTooShort,
  texts.newPasswordTooLong,
);
export const FirstPasswordField = newPassword(
  texts.passwordRequired,
  texts.passwordTooShort,
  texts.passwordTooLong,
);

function newPassword(required: string, tooShort: string, tooLong: string) {
  return z
    .string()
    .min(1, required)
    .refine((text) => passwordLength(text) >= passwordMinLength, tooShort)
    .refine((text) => passwordLength(text) <= passwordMaxLength, tooLong)
    .pipe(Password);
}

interface PasswordTwice {
  readonly password: string;
  readonly passwordConfirmation: string;
}

export function isTypedTwice({ password, passwordConfirmation }: PasswordTwice): boolean {
  return password === passwordConfirmation;
}

/** Told together with what is wrong elsewhere in the form, not only after that has been mended. */
export const typedTwice = {
  path: ['passwordConfirmation'],
  message: texts.passwordsDiffer,
  when: () => true,
};
