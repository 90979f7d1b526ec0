/** The recipients of e-mails: their e-mail address, and the language that is stored with their account. */
import type { Language, User } from '@lamina/contract';
import type { Connection } from '../store/database.ts';
import { findLanguage } from '../store/users.ts';
import type { Recipient } from './email-texts.ts';

export interface Recipients {
  /** Returns the recipient for an account, with the language of the account. */
  forAccount(db: Connection, account: Pick<User, 'uid' | 'email'>): Promise<Recipient>;
  /** Returns the recipient for an e-mail address that has no account yet. */
  forAddress(email: string, language: Language): Recipient;
}

/** Creates the service. @param publicUrl returns the URL of the web app, with which links in e-mails start */
export function createRecipients(productName: string, publicUrl: () => string): Recipients {
  const forAddress = (to: string, language: Language) => ({
    to,
    language,
    productName,
    publicUrl: publicUrl(),
  });
  return {
    forAccount: async (db, { uid, email }) => forAddress(email, await findLanguage(db, uid)),
    forAddress,
  };
}
