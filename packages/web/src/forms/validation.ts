/** Validation rules of the forms with their messages: required first, then the format. */
import { Password, passwordLength, passwordMaxLength, passwordMinLength } from '@lamina/contract';
import { z } from 'zod';
import { texts } from '../language/texts.ts';

type Sentence = () => string;

/** Returns a message in the language at the time of the validation. */
export function say(sentence: Sentence): { readonly error: Sentence } {
  return { error: sentence };
}

/** Trimmed like in the API. */
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

/** Validated together with the other fields, not only after those are valid. */
export const typedTwice = {
  path: ['passwordConfirmation'],
  ...say(() => texts.passwordsDiffer),
  when: () => true,
};
