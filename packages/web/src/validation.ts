/** The rules of the forms, with their sentences: required first, then the format. */
import { Password, passwordLength, passwordMaxLength, passwordMinLength } from '@lamina/contract';
import { z } from 'zod';
import { texts } from './texts.ts';

type Sentence = () => string;

/** The sentence of a rule, in the language of the moment at which it is broken. */
export function say(sentence: Sentence): { readonly error: Sentence } {
  return { error: sentence };
}

/** Trimmed, as the API does. */
export const EmailField = z
  .string()
  .trim()
  .min(
    1,
    say(() => texts.emailRequired),
  )
  .pipe(
    z.email(say(() => texts.emailInvalid)).max(
      254,
      say(() => texts.emailInvalid),
    ),
  );

export const NewPasswordField = newPassword(
  () => texts.newPasswordRequired,
  () => texts.newPasswordTooShort,
  () => texts.newPasswordTooLong,
);
export const FirstPasswordField = newPassword(
  () => texts.passwordRequired,
  () => texts.passwordTooShort,
  () => texts.passwordTooLong,
);

function newPassword(required: Sentence, tooShort: Sentence, tooLong: Sentence) {
  return z
    .string()
    .min(1, say(required))
    .refine((text) => passwordLength(text) >= passwordMinLength, say(tooShort))
    .refine((text) => passwordLength(text) <= passwordMaxLength, say(tooLong))
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
  ...say(() => texts.passwordsDiffer),
  when: () => true,
};
