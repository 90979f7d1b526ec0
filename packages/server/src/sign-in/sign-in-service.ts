/**
 * The sign-in service as the rest of the server sees it. The embedded one keeps passwords itself; an
 * external provider can stand beside or instead of it. Tokens are opaque and looked up at each call.
 */
import type { User } from '@lamina/contract';
import type { Change } from '../store/database.ts';

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

/** Where somebody signs in from: for the owner's eyes. */
export interface From {
  readonly address: string;
  readonly browser?: string | null;
}

/** One of an account's sign-ins that are alive. */
export interface OwnSignIn {
  /** Opaque; for the owner to name it by. */
  readonly id: string;
  readonly tokenHash: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly address: string | null;
  readonly browser: string | null;
}

export interface SignInService {
  /** What is stored of a password; slow on purpose, so never inside a transaction. @throws AppError unavailable */
  hashPassword(password: string): Promise<string>;
  /** Gives a new account its identity, in the transaction that makes the account. */
  signUp(tx: Change, uid: string, passwordHash: string): Promise<void>;
  /**
   * The same answer and the same duration for an unknown address and a wrong password.
   *
   * @param record called in the transaction that issues the token
   * @throws AppError credentials_invalid, unavailable; account_not_active for a deactivated account, after
   *   the right password
   */
  signIn(
    email: string,
    password: string,
    from: From,
    record: (tx: Change, user: User) => Promise<void>,
  ): Promise<IssuedToken>;
  /**
   * A token of ours for an account whose owner somebody else has recognised, in the caller's transaction.
   *
   * @throws AppError account_not_active for a deactivated account
   */
  issueToken(tx: Change, user: User, from: From): Promise<IssuedToken>;
  /** Ends one sign-in and the image sessions made from it, in the caller's transaction. */
  signOut(tx: Change, tokenHash: string): Promise<void>;
  /** Null for a token that never was, has ended, or whose account may not sign in. Keeps it alive. */
  resolveToken(token: string): Promise<ResolvedToken | null>;
  /** Whose call was let in, as the account is inside a change; null when the sign-in has ended meanwhile. */
  holderOf(tx: Change, tokenHash: string): Promise<User | null>;
  /** Whether this is the account's password. @throws AppError unavailable */
  isPassword(uid: string, password: string): Promise<boolean>;
  /** Whether the account signs in with a password here, and not elsewhere. */
  hasPassword(tx: Change, uid: string): Promise<boolean>;
  /**
   * In the caller's transaction. Codes that were mailed before are void.
   *
   * @throws AppError password_elsewhere for an account that has none here
   */
  setPassword(tx: Change, uid: string, passwordHash: string): Promise<void>;
  /** Ends every sign-in of an account, in the caller's transaction; `keepTokenHash` stays. */
  revokeAll(tx: Change, uid: string, keepTokenHash?: string): Promise<void>;
  /** Ends what was issued before that moment, in the caller's transaction. @param at ISO 8601 */
  revokeFromBefore(tx: Change, uid: string, at: string): Promise<void>;
  /** The account's own, last used first. */
  signInsOf(uid: string): Promise<OwnSignIn[]>;
  /**
   * A code to mail, in the caller's transaction; the one mailed before is void. Null when no account with
   * a password has this address, or it is deactivated.
   */
  startReset(tx: Change, email: string): Promise<{ readonly code: string; readonly user: User } | null>;
  /** Whose code this is, as `takeReset` would say; leaves it as it is. */
  ownerOfReset(code: string): Promise<User | null>;
  /** Whose code this is; null when it is unknown, used or too old. Uses it up, in the caller's transaction. */
  takeReset(tx: Change, code: string): Promise<User | null>;
}
