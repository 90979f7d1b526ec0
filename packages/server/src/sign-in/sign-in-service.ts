/**
 * The sign-in service as the rest of the server sees it. The embedded one keeps passwords itself; an
 * external provider can stand beside or instead of it. Tokens are opaque and looked up at each call.
 */
import type { User } from '@lamina/contract';
import type { Transaction } from 'kysely';
import type { Tables } from '../store/schema.ts';

/** A good token, and the account behind it as it is now. */
export interface ResolvedToken {
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date;
}

export interface IssuedToken {
  readonly token: string;
  /** Seconds until it ends at the latest. */
  readonly expiresInSeconds: number;
}

export interface SignInService {
  /** What is stored of a password; slow on purpose, so never inside a transaction. @throws AppError unavailable */
  hashPassword(password: string): Promise<string>;
  /** Gives a new account its identity, in the transaction that makes the account. */
  signUp(tx: Transaction<Tables>, uid: string, passwordHash: string): Promise<void>;
  /**
   * The same answer and the same duration for an unknown address and a wrong password.
   * @throws AppError credentials_invalid; account_not_active for a deactivated account, after the right password
   */
  signIn(email: string, password: string): Promise<{ readonly issued: IssuedToken; readonly user: User }>;
  /** Ends one sign-in and the image sessions made from it. */
  signOut(tokenHash: string): Promise<void>;
  /** Null for a token that never was, has ended, or whose account may not sign in. Keeps it alive. */
  resolveToken(token: string): Promise<ResolvedToken | null>;
  /** Whether this is the account's password. */
  isPassword(uid: string, password: string): Promise<boolean>;
  /** In the caller's transaction; with `keep`, that sign-in stays. */
  setPassword(tx: Transaction<Tables>, uid: string, passwordHash: string): Promise<void>;
  /** Ends every sign-in of an account, in the caller's transaction; `keepTokenHash` stays. */
  revokeAll(tx: Transaction<Tables>, uid: string, keepTokenHash?: string): Promise<void>;
  /** The code to mail, or null when no account with a password has this address. */
  requestReset(email: string): Promise<{ readonly code: string; readonly user: User } | null>;
  /** Whose code this is; null when it is unknown, used or too old. Uses it up, in the caller's transaction. */
  takeReset(tx: Transaction<Tables>, code: string): Promise<string | null>;
}
