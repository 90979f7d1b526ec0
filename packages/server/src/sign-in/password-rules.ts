/** Which passwords nobody may choose, however long they are. Their length is the contract's affair. */
import { AppError, passwordMinLength } from '@lamina/contract';
import { dictionary } from '@zxcvbn-ts/language-common';
import { emailKey } from '../domain/email.ts';
import { prepared } from './password.ts';

/**
 * The commonest first (ASVS 5.0, 6.2.4: at least 3000 of those that the other rules would let pass).
 * Source: the list of zxcvbn, counted in published leaks.
 */
const commonPasswords = new Set(
  dictionary['passwords-common'].filter((password) => password.length >= passwordMinLength).slice(0, 3000),
);

/** Whose password it is to be. */
export interface Owner {
  readonly email: string;
  readonly displayName?: string | null | undefined;
}

/** Null for a good one. Exact matches only, whatever their case: a common word in a longer password does no harm. */
export function whyGuessable(password: string, { email, displayName }: Owner): 'common' | 'own' | null {
  const typed = folded(password);
  if (commonPasswords.has(typed)) return 'common';
  const address = emailKey(email);
  const name = folded(displayName ?? '');
  const own = [address, address.split('@')[0], name, name.replaceAll(/\s/g, '')];
  return own.includes(typed) ? 'own' : null;
}

/**
 * @param field of the body, so that a form can say it beside its own
 * @throws AppError invalid_request
 */
export function refuseGuessablePassword(
  password: string,
  owner: Owner,
  field: 'password' | 'new_password',
): void {
  const reason = whyGuessable(password, owner);
  if (reason !== null) throw new AppError('invalid_request', { message: sentences[reason], field });
}

const sentences = {
  common: {
    tr: 'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.',
    en: 'This password is very common and easily guessed. Please choose another.',
  },
  own: {
    tr: 'Şifreniz e-posta adresiniz veya adınız olamaz. Lütfen başka bir şifre seçin.',
    en: 'Your password cannot be your e-mail address or your name. Please choose another.',
  },
};

function folded(text: string): string {
  return prepared(text).toLowerCase();
}
