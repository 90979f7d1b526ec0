/**
 * Interface between the sign-in service and the rest of the server. The service issues a bearer token for each sign-in.
 * A token is a random string without content, so each API call looks it up. The embedded service checks passwords
 * against hashes that it stores; an external provider (OpenID Connect) can authenticate people in addition or instead.
 */
import type { User } from '@lamina/contract';
import type { DatabaseTransaction } from '../store/database.ts';

/**
 * The client and the account for which the server hashes a password. Hashing is slow, so the queue of hashes takes turns between
 * networks, and between the accounts of one network. Null means the server itself, which hashes passwords at its first start and in
 * its commands.
 */
export type HashRequester = {
  /** IP address of the client. */
  readonly address: string;
  /** Any string that identifies the account, whether or not it exists. */
  readonly account: string;
} | null;

/** A token expires when no API call and no tile request has used it for this time: one hour. */
export const tokenIdleMs = 60 * 60_000;

/** A valid token and the current state of its account. */
export interface ResolvedToken {
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date; // for an API token, the time of its creation
}

export interface IssuedToken {
  readonly token: string;
  /** Maximum lifetime of the token. An unused token expires earlier (see `tokenIdleMs`). */
  readonly expiresInSeconds: number;
  /** Token hashes of the account's oldest sign-ins, which ended because the account had reached the maximum number of sign-ins. */
  readonly endedTokenHashes: readonly string[];
}

/** The client that signs in. The profile of the account lists its IP address and browser. */
export interface SignInClient {
  readonly address: string;
  readonly browser?: string | null;
}

/** A valid sign-in, as the list of the account's own sign-ins shows it. */
export interface OwnSignIn {
  /** Opaque id for the owner; not a credential. */
  readonly id: string;
  readonly tokenHash: string;
  /** ISO 8601, like `lastUsedAt`. */
  readonly createdAt: string;
  readonly lastUsedAt: string;
  /** IP address of the client; null when unknown. */
  readonly address: string | null;
  /** Browser and system, such as `Firefox · Windows`; null when unknown. */
  readonly browser: string | null;
}

export interface SignInService {
  /**
   * Hashes a password. This is slow on purpose, so it must not run inside a transaction.
   *
   * @throws AppError unavailable when the queue of hashes is full
   */
  hashPassword(password: string, requester: HashRequester): Promise<string>;
  /** Stores the password of a new account, in the transaction that creates the account. */
  signUp(tx: DatabaseTransaction, uid: string, passwordHash: string): Promise<void>;
  /**
   * Signs in, with the same error and duration for an unknown address as for a wrong password.
   *
   * @param record writes the audit event in the transaction that issues the token. `endedTokenHashes` are the token hashes of the
   *   oldest sign-ins, which the new one has ended.
   * @throws AppError credentials_invalid, unavailable; account_not_active for a deactivated account, only after the correct password
   */
  signIn(
    email: string,
    password: string,
    client: SignInClient,
    record: (tx: DatabaseTransaction, user: User, endedTokenHashes: readonly string[]) => Promise<void>,
  ): Promise<IssuedToken>;
  /**
   * Issues a token, in the caller's transaction, for an account whose owner an external provider has authenticated. The oldest
   * sign-ins beyond the maximum number per account end. After the commit, the caller must evict their image sessions from the cache.
   *
   * @throws AppError account_not_active for a deactivated account
   */
  issueToken(tx: DatabaseTransaction, user: User, client: SignInClient): Promise<IssuedToken>;
  /** Ends one sign-in and the image sessions that were created with it, in the caller's transaction. */
  signOut(tx: DatabaseTransaction, tokenHash: string): Promise<void>;
  /** Returns the account of a token and renews its idle time; null for an invalid token and for a deactivated account. */
  resolveToken(token: string): Promise<ResolvedToken | null>;
  /** Like `resolveToken`, but takes the hash of a token (also of an API token) and does not renew the idle time; for background checks. */
  currentHolder(tokenHash: string): Promise<User | null>;
  /**
   * Reads the account of a sign-in or an API token in the caller's transaction. Returns null when the token was revoked, or when the end
   * date of the account has passed since the token was issued.
   */
  holderOf(tx: DatabaseTransaction, tokenHash: string): Promise<User | null>;
  /** Returns whether the hash belongs to the password. @throws AppError unavailable */
  matchesPasswordHash(passwordHash: string, password: string, requester: HashRequester): Promise<boolean>;
  /** Returns whether the account has this password. @throws AppError unavailable */
  isPasswordOf(uid: string, password: string, requester: HashRequester): Promise<boolean>;
  /** Returns whether the account has a password on this server. */
  hasPassword(tx: DatabaseTransaction, uid: string): Promise<boolean>;
  /**
   * Replaces the password, in the caller's transaction. Reset codes that were e-mailed before become invalid.
   *
   * @throws AppError password_elsewhere for an account without a password on this server
   */
  setPassword(tx: DatabaseTransaction, uid: string, passwordHash: string): Promise<void>;
  /** Ends every sign-in of an account except `exceptTokenHash`, in the caller's transaction. API tokens stay valid. */
  endSignIns(tx: DatabaseTransaction, uid: string, exceptTokenHash?: string): Promise<void>;
  /** Ends every sign-in of an account except `exceptTokenHash`, and every API token, in the caller's transaction. */
  revokeAll(tx: DatabaseTransaction, uid: string, exceptTokenHash?: string): Promise<void>;
  /** Ends the sign-ins and API tokens of an account that were issued before a time (ISO 8601), in the caller's transaction. */
  revokeIssuedBefore(tx: DatabaseTransaction, uid: string, time: string): Promise<void>;
  /** Returns the sign-ins of an account, most recently used first. */
  signInsOf(uid: string): Promise<OwnSignIn[]>;
  /**
   * Creates a password reset code, in the caller's transaction. An earlier code becomes invalid. Returns null when the address has
   * no account, or its account has no password on this server or is deactivated.
   */
  createReset(
    tx: DatabaseTransaction,
    email: string,
  ): Promise<{ readonly code: string; readonly user: User } | null>;
  /** Returns the account of a reset code, which stays usable; null for an unknown, used or expired code, and for a deactivated account. */
  ownerOfReset(code: string): Promise<User | null>;
  /** Consumes a reset code in the caller's transaction. Returns the account or null, as `ownerOfReset` does. */
  consumeReset(tx: DatabaseTransaction, code: string): Promise<User | null>;
}
