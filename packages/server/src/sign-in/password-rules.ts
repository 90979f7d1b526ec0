/** Passwords that are rejected because they are easily guessed. The contract checks their length. */
import { AppError, passwordMinLength } from '@lamina/contract';
import { dictionary } from '@zxcvbn-ts/language-common';
import { emailKey } from '../domain/email.ts';
import { prepared } from './password.ts';

/**
 * The most common first (ASVS 5.0, 6.2.4: at least 3000 of those that pass the other rules).
 * Source: the list of zxcvbn, counted in published leaks.
 */
const commonPasswords = new Set(
  dictionary['passwords-common'].filter((password) => password.length >= passwordMinLength).slice(0, 3000),
);

/** The account that the password is for. */
export interface Owner {
  readonly email: string;
  readonly displayName?: string | null | undefined;
}

/** Returns null for an acceptable password. Compares whole passwords without case: a common word inside a longer one is fine. */
export function guessableReason(
  password: string,
  { email, displayName }: Owner,
): 'password_common' | 'password_personal' | null {
  const typed = folded(password);
  if (commonPasswords.has(typed)) return 'password_common';
  const address = emailKey(email);
  const name = folded(displayName ?? '');
  const own = [address, address.split('@')[0], name, name.replaceAll(/\s/g, '')];
  return own.includes(typed) ? 'password_personal' : null;
}

/**
 * @param field of the body, so that a form can show the error beside its field
 * @throws AppError invalid_request
 */
export function rejectGuessablePassword(
  password: string,
  owner: Owner,
  field: 'password' | 'new_password',
): void {
  const reason = guessableReason(password, owner);
  if (reason !== null) throw new AppError('invalid_request', { reason, field });
}

function folded(text: string): string {
  return prepared(text).toLowerCase();
}
