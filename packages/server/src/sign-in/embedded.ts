/** The embedded sign-in service: passwords of our own, opaque tokens that are rows. */
import { AppError, type User } from '@lamina/contract';
import type { Logger } from 'pino';
import { isFromTheFuture } from '../clock.ts';
import { isFromBeforeExpiry, standing } from '../domain/account.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { type Change, change, type Database } from '../store/database.ts';
import { findPassword, insertPassword, updatePassword } from '../store/identities.ts';
import { deleteExpiredResets, deleteResetsOf, findReset, replaceReset } from '../store/password-resets.ts';
import {
  deleteEndedTokens,
  deleteToken,
  deleteTokensFromBefore,
  deleteTokensOf,
  findToken,
  insertToken,
  listTokensOf,
  touchToken,
} from '../store/tokens.ts';
import { findUser, findUserByEmail } from '../store/users.ts';
import { createPasswords, type PasswordCost } from './password.ts';
import type { From, IssuedToken, SignInService } from './sign-in-service.ts';

const tokenLifetimeMs = 12 * 60 * 60_000;
/** A token ends when neither a call nor a tile has used it for this long. */
export const tokenIdleMs = 60 * 60_000;
/** A use is written down at most this often. */
const touchEveryMs = 30_000;
const resetMs = 30 * 60_000;

interface Ground {
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => Date;
  readonly passwordCost: PasswordCost;
}

export function createEmbeddedSignIn({ db, log, now, passwordCost }: Ground): SignInService {
  const passwords = createPasswords(passwordCost);
  const later = (ms: number) => new Date(now().getTime() + ms);

  /** A full disk must not sign anybody out: what is lost is half a minute of idle time. */
  async function touch(hash: string): Promise<void> {
    try {
      await touchToken(db, hash, now());
    } catch (error) {
      log.warn({ err: error }, 'the use of a token could not be written down');
    }
  }

  async function issueToken(tx: Change, user: User, from: From): Promise<IssuedToken> {
    if (user.status === 'deactivated') throw accountClosed(user);
    const token = newSecret();
    const issuedAt = now().toISOString();
    await deleteEndedTokens(tx, now(), later(-tokenIdleMs));
    await insertToken(tx, {
      hash: hashSecret(token),
      uid: user.uid,
      created_at: issuedAt,
      last_used_at: issuedAt,
      expires_at: later(tokenLifetimeMs).toISOString(),
      address: from.address,
      browser: from.browser ?? null,
    });
    return { token, expiresInSeconds: tokenLifetimeMs / 1000 };
  }

  return {
    hashPassword: passwords.hash,
    signUp: insertPassword,

    async signIn(email, password, from, record) {
      const found = await findUserByEmail(db, email);
      const passwordHash = found && (await findPassword(db, found.uid));
      const isRight = await passwords.isRight(passwordHash, password);
      if (found === null || !isRight) throw new AppError('credentials_invalid');

      return change(db, 'accounts', async (tx) => {
        // The account and its password as they are now: hashing took its time.
        const user = await findUser(tx, found.uid);
        if (user === null || (await findPassword(tx, user.uid)) !== passwordHash) {
          throw new AppError('credentials_invalid');
        }
        const issued = await issueToken(tx, user, from);
        await record(tx, user);
        return issued;
      });
    },

    issueToken,

    signOut: deleteToken,

    async resolveToken(token) {
      const tokenHash = hashSecret(token);
      const found = await findToken(db, tokenHash);
      if (found === null || found.user.status === 'deactivated') return null;
      if (isFromBeforeExpiry(found.createdAt, found.user, now())) return null;
      if (isFromTheFuture(found.createdAt, now()) || isFromTheFuture(found.lastUsedAt, now())) return null;
      const idleMs = now().getTime() - found.lastUsedAt.getTime();
      if (found.expiresAt <= now() || idleMs >= tokenIdleMs) return null;
      if (idleMs >= touchEveryMs) await touch(tokenHash);
      return { user: standing(found.user, now()), tokenHash, signedInAt: found.createdAt };
    },

    async holderOf(tx, tokenHash) {
      const found = await findToken(tx, tokenHash);
      if (found === null || isFromBeforeExpiry(found.createdAt, found.user, now())) return null;
      return standing(found.user, now());
    },

    async isPassword(uid, password) {
      return passwords.isRight(await findPassword(db, uid), password);
    },

    async hasPassword(tx, uid) {
      return (await findPassword(tx, uid)) !== null;
    },

    async setPassword(tx, uid, passwordHash) {
      if (!(await updatePassword(tx, uid, passwordHash))) throw new AppError('password_elsewhere');
      await deleteResetsOf(tx, uid);
    },

    revokeAll: deleteTokensOf,

    revokeFromBefore: deleteTokensFromBefore,

    async signInsOf(uid) {
      const rows = await listTokensOf(db, uid, now(), later(-tokenIdleMs));
      return rows.map((row) => ({
        id: signInId(row.hash),
        tokenHash: row.hash,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
        address: row.address,
        browser: row.browser,
      }));
    },

    async startReset(tx, email) {
      const user = await findUserByEmail(tx, email);
      if (user === null || user.status === 'deactivated') return null;
      if ((await findPassword(tx, user.uid)) === null) return null;
      const code = newSecret();
      await deleteExpiredResets(tx, now());
      await replaceReset(tx, {
        hash: hashSecret(code),
        uid: user.uid,
        expires_at: later(resetMs).toISOString(),
      });
      return { code, user };
    },

    async ownerOfReset(code) {
      const uid = await findReset(db, hashSecret(code), now());
      return uid === null ? null : findUser(db, uid);
    },

    async takeReset(tx, code) {
      const uid = await findReset(tx, hashSecret(code), now());
      const user = uid && (await findUser(tx, uid));
      if (!user || user.status === 'deactivated') return null;
      await deleteResetsOf(tx, user.uid);
      return user;
    },
  };
}

/** Says nothing of the hash it was made of; shorter, since it opens nothing. */
function signInId(tokenHash: string): string {
  return hashSecret(`sign-in ${tokenHash}`).slice(0, 22);
}

function accountClosed({ status }: User): AppError {
  return new AppError('account_not_active', {
    message: { tr: 'Hesabınız devre dışı bırakılmış.', en: 'Your account has been deactivated.' },
    status,
  });
}
