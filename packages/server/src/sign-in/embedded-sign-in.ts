/** The embedded sign-in service. It stores password hashes, and issues random tokens, whose hashes it stores. */
import { AppError, type User } from '@lamina/contract';
import type { Logger } from 'pino';
import { effectiveAccount, wasIssuedBeforeExpiry } from '../domain/account.ts';
import type { Reader } from '../domain/dataset-access.ts';
import { emailKey } from '../domain/email.ts';
import { isFromTheFuture } from '../platform/clock.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import {
  type IssuedToken,
  type SignInClient,
  type SignInService,
  tokenIdleMs,
} from '../sessions/sign-in-service.ts';
import { deleteApiTokensCreatedBefore, deleteApiTokensOf, findApiToken } from '../store/api-tokens.ts';
import {
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { findPassword, insertPassword, updatePassword } from '../store/identities.ts';
import {
  deleteExpiredResets,
  deleteResetsOf,
  findUidOfReset,
  replaceReset,
} from '../store/password-resets.ts';
import {
  deleteExpiredTokens,
  deleteOldestTokens,
  deleteToken,
  deleteTokensCreatedBefore,
  deleteTokensOf,
  findToken,
  insertToken,
  listTokensOf,
  type StoredToken,
  touchToken,
} from '../store/tokens.ts';
import { findUser, findUserByEmail } from '../store/users.ts';
import { createPasswords, type PasswordCost } from './password.ts';

/** A token ends after this time, even if it is in use. */
const tokenLifetimeMs = 12 * 60 * 60_000;
/**
 * Maximum number of concurrent sign-ins of one account. A further sign-in ends the oldest one. The number is enough for a class that
 * shares a teaching account, and for programs that sign in at every run.
 */
export const maxTokensPerAccount = 50;
/** Minimum interval between two writes of the time of a token's last use. */
const touchEveryMs = 30_000;
const resetCodeLifetimeMs = 30 * 60_000;

interface EmbeddedSignInDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => Date;
  readonly passwordCost: PasswordCost;
}

export function createEmbeddedSignIn({
  db,
  log,
  now,
  passwordCost,
}: EmbeddedSignInDependencies): SignInService {
  const passwords = createPasswords(passwordCost);
  const timeIn = (ms: number) => new Date(now().getTime() + ms); // in the past if `ms` is negative

  /**
   * Saves that the token is in use. Logs a failed write instead of throwing an error, because a full disk must not sign people out.
   * Until a later write succeeds, the idle time of the token counts from the last saved use.
   */
  async function saveLastUse(hash: string, uid: string): Promise<void> {
    try {
      await touchToken(db, hash, now());
    } catch (error) {
      log.warn(
        { err: error, uid },
        'time of the last request with a bearer token could not be saved in the database; the sign-in of account `uid` may expire early',
      );
    }
  }

  async function issueToken(tx: DatabaseTransaction, user: User, client: SignInClient): Promise<IssuedToken> {
    if (user.status === 'deactivated') throw accountDeactivated(user);
    const token = newSecret();
    const issuedAt = now().toISOString();
    await deleteExpiredTokens(tx, now(), timeIn(-tokenIdleMs));
    const maxOtherTokens = maxTokensPerAccount - 1; // with the new token, the account has at most the maximum
    const endedTokenHashes = await deleteOldestTokens(tx, user.uid, maxOtherTokens);
    await insertToken(tx, {
      hash: hashSecret(token),
      uid: user.uid,
      created_at: issuedAt,
      last_used_at: issuedAt,
      expires_at: timeIn(tokenLifetimeMs).toISOString(),
      address: client.address,
      browser: client.browser ?? null,
    });
    return { token, expiresInSeconds: tokenLifetimeMs / 1000, endedTokenHashes };
  }

  /** Returns the account to which a reset code belongs; null for a wrong or expired code, and for a deactivated account. */
  async function ownerOfCode(connection: Connection, code: string): Promise<User | null> {
    const uid = await findUidOfReset(connection, hashSecret(code), now());
    const user = uid === null ? null : await findUser(connection, uid);
    return user?.status === 'deactivated' ? null : user;
  }

  /** Returns a token that gives access now; null for an unknown or ended one, and for one of a deactivated account. */
  async function findValidToken(tokenHash: string): Promise<StoredToken | null> {
    const found = await findToken(db, tokenHash);
    if (found === null || found.user.status === 'deactivated') return null;
    // A token ends when the end date of its account passes.
    if (wasIssuedBeforeExpiry(found.createdAt, found.user, now())) return null;
    // A time in the future means that the clock was set back, so the age of the token is unknown.
    if (isFromTheFuture(found.createdAt, now()) || isFromTheFuture(found.lastUsedAt, now())) return null;
    const isIdle = now().getTime() - found.lastUsedAt.getTime() >= tokenIdleMs;
    return found.expiresAt <= now() || isIdle ? null : found;
  }

  return {
    hashPassword: passwords.hash,
    matchesPasswordHash: passwords.matchesHash,
    signUp: insertPassword,

    async signIn(email, password, client, record) {
      const found = await findUserByEmail(db, email);
      const passwordHash = found && (await findPassword(db, found.uid));
      // Null, for example for an unknown address, gives false after the same time as a wrong password.
      const isCorrect = await passwords.matchesHash(passwordHash, password, {
        address: client.address,
        account: emailKey(email),
      });
      if (found === null || !isCorrect) throw new AppError('credentials_invalid');

      return runLockedTransaction(db, 'accounts', async (tx) => {
        // Queried again, because the account and its password may have changed during the hashing.
        const user = await findUser(tx, found.uid);
        if (user === null || (await findPassword(tx, user.uid)) !== passwordHash) {
          throw new AppError('credentials_invalid');
        }
        const issued = await issueToken(tx, user, client);
        await record(tx, user, issued.endedTokenHashes); // writes the audit event
        return issued;
      });
    },

    issueToken,

    signOut: deleteToken,

    async resolveToken(token) {
      const tokenHash = hashSecret(token);
      const found = await findValidToken(tokenHash);
      if (found === null) return null;
      if (now().getTime() - found.lastUsedAt.getTime() >= touchEveryMs)
        await saveLastUse(tokenHash, found.user.uid);
      // An account whose end date has passed counts as suspended.
      return { user: effectiveAccount(found.user, now()), tokenHash, signedInAt: found.createdAt };
    },

    async currentHolder(tokenHash) {
      const signedIn = await findValidToken(tokenHash);
      if (signedIn !== null) return effectiveAccount(signedIn.user, now());
      const found = await apiTokenOf(db, tokenHash); // the deactivation of an account deletes its API tokens
      if (found === null || found.expiresAt <= now()) return null;
      if (wasIssuedBeforeExpiry(found.createdAt, found.user, now())) return null;
      return effectiveAccount(found.user, now());
    },

    // The lifetime and the idle time are not checked, because the access check of the same request has checked them.
    async holderOf(tx, tokenHash) {
      const found = (await findToken(tx, tokenHash)) ?? (await apiTokenOf(tx, tokenHash));
      if (found === null || wasIssuedBeforeExpiry(found.createdAt, found.user, now())) return null;
      return effectiveAccount(found.user, now());
    },

    async isPasswordOf(uid, password, requester) {
      return passwords.matchesHash(await findPassword(db, uid), password, requester);
    },

    async hasPassword(tx, uid) {
      return (await findPassword(tx, uid)) !== null;
    },

    async setPassword(tx, uid, passwordHash) {
      // An account without a password signs in with an external provider.
      if (!(await updatePassword(tx, uid, passwordHash))) throw new AppError('password_elsewhere');
      await deleteResetsOf(tx, uid);
    },

    endSignIns: deleteTokensOf,

    async revokeAll(tx, uid, exceptTokenHash) {
      await deleteTokensOf(tx, uid, exceptTokenHash);
      await deleteApiTokensOf(tx, uid);
    },

    async revokeIssuedBefore(tx, uid, time) {
      await deleteTokensCreatedBefore(tx, uid, time);
      await deleteApiTokensCreatedBefore(tx, uid, time);
    },

    async signInsOf(uid) {
      const rows = await listTokensOf(db, uid, now(), timeIn(-tokenIdleMs));
      return rows.map((row) => ({
        id: signInId(row.hash),
        tokenHash: row.hash,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
        address: row.address,
        browser: row.browser,
      }));
    },

    async createReset(tx, email) {
      const user = await findUserByEmail(tx, email);
      if (user === null || user.status === 'deactivated') return null;
      if ((await findPassword(tx, user.uid)) === null) return null;
      const code = newSecret();
      await deleteExpiredResets(tx, now());
      await replaceReset(tx, {
        hash: hashSecret(code),
        uid: user.uid,
        expires_at: timeIn(resetCodeLifetimeMs).toISOString(),
      });
      return { code, user };
    },

    ownerOfReset: (code) => ownerOfCode(db, code),

    async consumeReset(tx, code) {
      const user = await ownerOfCode(tx, code);
      if (user !== null) await deleteResetsOf(tx, user.uid);
      return user;
    },
  };
}

/** Returns the account of an API token, including the token's limit to datasets; null for an unknown token. */
async function apiTokenOf(
  db: Connection,
  hash: string,
): Promise<{ readonly user: Reader; readonly createdAt: Date; readonly expiresAt: Date } | null> {
  const found = await findApiToken(db, hash);
  if (found === null) return null;
  const { user, datasets, createdAt, expiresAt } = found;
  return {
    user: datasets === null ? user : { ...user, onlyDatasets: datasets },
    createdAt: new Date(createdAt),
    expiresAt: new Date(expiresAt),
  };
}

/** Returns the id by which the owner ends a sign-in. It does not reveal the token's hash, and is short because it is no credential. */
function signInId(tokenHash: string): string {
  return hashSecret(`sign-in ${tokenHash}`).slice(0, 22);
}

function accountDeactivated({ status }: User): AppError {
  return new AppError('account_not_active', { reason: 'account_deactivated', status });
}
