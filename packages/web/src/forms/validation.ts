/**
 * Validation rules and messages that several forms share. A rule first checks that the field is filled in, and then its format.
 */
import {
  Password,
  passwordLength,
  passwordMaxLength,
  passwordMinLength,
  withPlainCapitalI,
} from '@lamina/contract';
import { z } from 'zod';
import { texts } from '../language/texts.ts';

/** Returns a validation message in the current language, which may have changed since the schema was created. */
type Message = () => string;

/** Returns the zod option that makes a rule fail with this message. */
export function failWith(message: Message): { readonly error: Message } {
  return { error: message };
}

/** An e-mail address, trimmed, in which the plain letter I replaces the Turkish letter İ, as in the API. */
export const EmailField = z
  .string()
  .trim()
  .overwrite(withPlainCapitalI)
  .min(
    1,
    failWith(() => texts.emailRequired),
  )
  .pipe(
    z.email(failWith(() => texts.emailInvalid)).max(
      254, // as in the API (`Email`)
      failWith(() => texts.emailInvalid),
    ),
  );

/** A password that replaces another one; its messages say 'new password'. */
export const NewPasswordField = newPassword(
  () => texts.newPasswordRequired,
  () => texts.newPasswordTooShort,
  () => texts.newPasswordTooLong,
);
/** The first password of an account; its messages say 'password'. */
export const FirstPasswordField = newPassword(
  () => texts.passwordRequired,
  () => texts.passwordTooShort,
  () => texts.passwordTooLong,
);

function newPassword(required: Message, tooShort: Message, tooLong: Message) {
  return z
    .string()
    .min(1, failWith(required))
    .refine((text) => passwordLength(text) >= passwordMinLength, failWith(tooShort))
    .refine((text) => passwordLength(text) <= passwordMaxLength, failWith(tooLong))
    .pipe(Password); // adds the limit of the API in bytes
}

interface PasswordAndConfirmation {
  readonly password: string;
  readonly passwordConfirmation: string;
}

/** Returns whether the password and its confirmation are equal. */
export function passwordsMatch({ password, passwordConfirmation }: PasswordAndConfirmation): boolean {
  return password === passwordConfirmation;
}

/** Options for `refine` with `passwordsMatch`. With `when`, zod checks the rule even while other fields are invalid. */
export const passwordsDifferOptions = {
  path: ['passwordConfirmation'],
  ...failWith(() => texts.passwordsDiffer),
  when: () => true,
};
