/** Whom e-mails go to: the address of an account, with the language that is stored with it. */
import type { Language, User } from '@lamina/contract';
import type { Connection } from '../store/database.ts';
import { findLanguage } from '../store/users.ts';
import type { Recipient } from './email-texts.ts';

export interface Recipients {
  /** The owner of an account, in the language of the account. */
  of(db: Connection, account: Pick<User, 'uid' | 'email'>): Promise<Recipient>;
  /** An address that has no account yet. */
  at(email: string, language: Language): Recipient;
}

export function createRecipients(productName: string, publicUrl: () => string): Recipients {
  const at = (to: string, language: Language) => ({ to, language, productName, publicUrl: publicUrl() });
  return {
    of: async (db, { uid, email }) => at(email, await findLanguage(db, uid)),
    at,
  };
}
