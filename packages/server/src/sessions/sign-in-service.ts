/**
 * Interface between the sign-in service and the rest of the server. The embedded service stores password hashes; an external
 * provider can be used in addition or instead. Tokens are opaque and looked up at each call.
 */
import type { User } from '@lamina/contract';
import type { Change } from '../store/database.ts';

/**
 * The requester of a password hash. Hashes are computed in turn for the networks, and for the accounts of one network. The server
 * itself, which hashes at its first start and in its commands, is `null`.
 */
export type HashRequester = {
  /** IP address of the client. */
  readonly address: string;
  /** Any text that names the account, whether or not it exists. */
  readonly account: string;
} | null;

/** A token ends when no call or tile has used it for this long. */
export const tokenIdleMs = 60 * 60_000;

/** A valid token and the current state of its account. */
export interface ResolvedToken {
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date;
}

export interface IssuedToken {
  readonly token: string;
  /** Seconds until it expires at the latest. */
  readonly expiresInSeconds: number;
  /** The oldest sign-ins of the account, which ended because it had reached its maximum number. */
  readonly endedTokenHashes: readonly string[];
}

/** The client that signs in; its address and browser are shown to the owner of the account. */
export interface SignInClient {
  readonly address: string;
  readonly browser?: string | null;
}

/** A valid sign-in of an account. */
export interface OwnSignIn {
  /** Opaque id for the owner; not a credential. */
  readonly id: string;
  readonly tokenHash: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly address: string | null;
  readonly browser: string | null;
}

export interface SignInService {
  /** Hashes a password; slow on purpose, so never inside a transaction. @throws AppError unavailable */
  hashPassword(password: string, requester: HashRequester): Promise<string>;
  /** Stores the password of a new account, in the transaction that creates the account. */
  signUp(tx: Change, uid: string, passwordHash: string): Promise<void>;
  /**
   * Signs in, with the same error and duration for an unknown address as for a wrong password.
   *
   * @param record called in the transaction that issues the token, with the oldest sign-ins that ended for it
   * @throws AppError credentials_invalid, unavailable; account_not_active for a deactivated account, after
   *   the right password
   */
  signIn(
    email: string,
    password: string,
    client: SignInClient,
    record: (tx: Change, user: User, endedTokenHashes: readonly string[]) => Promise<void>,
  ): Promise<IssuedToken>;
  /**
   * Issues a token for an account whose owner an external provider has authenticated, in the caller's transaction. The
   * account's oldest sign-ins beyond `maxTokensPerAccount` end; the caller evicts them from the cache after the commit.
   *
   * @throws AppError account_not_active for a deactivated account
   */
  issueToken(tx: Change, user: User, client: SignInClient): Promise<IssuedToken>;
  /** Ends one sign-in and the image sessions made from it, in the caller's transaction. */
  signOut(tx: Change, tokenHash: string): Promise<void>;
  /** Returns null for an unknown or ended token, or one whose account may not sign in. Renews its idle time. */
  resolveToken(token: string): Promise<ResolvedToken | null>;
  /**
   * Returns the account of a valid sign-in or API token for a check in the background, which does not renew its idle time;
   * else null.
   */
  currentHolder(tokenHash: string): Promise<User | null>;
  /** Returns the account of a sign-in or an API token as it is inside the transaction; null when it has ended. */
  holderOf(tx: Change, tokenHash: string): Promise<User | null>;
  /** Returns whether the hash matches the password. @throws AppError unavailable */
  isRight(passwordHash: string, password: string, requester: HashRequester): Promise<boolean>;
  /** Returns whether the account has this password. @throws AppError unavailable */
  isPassword(uid: string, password: string, requester: HashRequester): Promise<boolean>;
  /** Returns whether the account has a password on this server. */
  hasPassword(tx: Change, uid: string): Promise<boolean>;
  /**
   * Replaces the password, in the caller's transaction. Reset codes that were mailed before become invalid.
   *
   * @throws AppError password_elsewhere for an account without a password on this server
   */
  setPassword(tx: Change, uid: string, passwordHash: string): Promise<void>;
  /** Ends every sign-in of an account except `keepTokenHash`, in the caller's transaction. API tokens stay valid. */
  endSignIns(tx: Change, uid: string, keepTokenHash?: string): Promise<void>;
  /** Ends every sign-in of an account except `keepTokenHash`, and every API token, in the caller's transaction. */
  revokeAll(tx: Change, uid: string, keepTokenHash?: string): Promise<void>;
  /** Ends the sign-ins and API tokens that were issued before a time, in the caller's transaction. @param at ISO 8601 */
  revokeIssuedBefore(tx: Change, uid: string, at: string): Promise<void>;
  /** Returns the sign-ins of an account, most recently used first. */
  signInsOf(uid: string): Promise<OwnSignIn[]>;
  /**
   * Creates a reset code to mail, in the caller's transaction; an earlier one becomes invalid. Returns null when the
   * address has no account with a password, or a deactivated one.
   */
  startReset(tx: Change, email: string): Promise<{ readonly code: string; readonly user: User } | null>;
  /** Returns the account of a reset code, as `takeReset` does, without consuming the code. */
  ownerOfReset(code: string): Promise<User | null>;
  /** Consumes a reset code and returns its account, in the caller's transaction; null when it is unknown, used or expired. */
  takeReset(tx: Change, code: string): Promise<User | null>;
}
