/** Rejects new passwords that are easily guessed. The contract (packages/contract) checks their length. */
import { AppError, passwordMinLength } from '@lamina/contract';
import { dictionary } from '@zxcvbn-ts/language-common';
import { emailKey } from '../domain/email.ts';
import { normalisePassword } from './password.ts';

/**
 * The 3000 most common passwords that are long enough (OWASP ASVS 5.0, 6.2.4 requires at least 3000). The list of zxcvbn comes from
 * published leaks and begins with the most common password.
 */
const commonPasswords = new Set(
  dictionary['passwords-common'].filter((password) => password.length >= passwordMinLength).slice(0, 3000),
);

/** The account to which the password belongs. */
export interface Owner {
  readonly email: string;
  readonly displayName?: string | null | undefined;
}

/** Returns why a password is easily guessed; null for an acceptable one. Compares the password as a whole, ignoring case. */
export function guessableReason(
  password: string,
  { email, displayName }: Owner,
): 'password_common' | 'password_personal' | null {
  const candidate = normalised(password);
  if (commonPasswords.has(candidate)) return 'password_common';
  const normalisedEmail = emailKey(email);
  const name = normalised(displayName ?? '');
  const personalWords = [normalisedEmail, normalisedEmail.split('@')[0], name, name.replaceAll(/\s/g, '')];
  return personalWords.includes(candidate) ? 'password_personal' : null;
}

/** Rejects an easily guessed password. @param field field that the error names @throws AppError invalid_request */
export function rejectGuessablePassword(
  password: string,
  owner: Owner,
  field: 'password' | 'new_password',
): void {
  const reason = guessableReason(password, owner);
  if (reason !== null) throw new AppError('invalid_request', { reason, field });
}

function normalised(text: string): string {
  return normalisePassword(text).toLowerCase();
}
