/**
 * Signing in with an external identity: an ID token in, the account and a token of ours out. The account is found by
 * issuer and subject; a person who was never here before gets one that waits for an administrator, as any other.
 */
import { randomUUID } from 'node:crypto';
import { AppError, type User } from '@lamina/contract';
import type { Audit, Origin } from '../audit.ts';
import type { Config } from '../config.ts';
import * as rules from '../domain/account.ts';
import type { ImageSessions } from '../image-sessions.ts';
import { hashSecret } from '../secrets.ts';
import { type Change, change, type Database } from '../store/database.ts';
import { deletePassword, findUidOfIdentity, insertIdentity } from '../store/identities.ts';
import { deleteResetsOf } from '../store/password-resets.ts';
import { spendIdentityToken } from '../store/spent-identity-tokens.ts';
import { findUser, findUserByEmail, insertUser, updateUser } from '../store/users.ts';
import type { WaitingNotices } from '../waiting-notices.ts';
import { createIdentityProvider, type ExternalPerson } from './identity-provider.ts';
import type { SignInService } from './sign-in-service.ts';

export interface ExternalSignIn {
  /**
   * @param nonce what the browser sent along when it went to the provider; undefined checks none
   * @throws AppError token_invalid, token_unverifiable; email_taken when another account has the address and may not
   *   be taken up; account_not_active for a deactivated account
   */
  signIn(
    idToken: string,
    nonce: string | undefined,
    origin: Origin,
  ): Promise<{ readonly user: User; readonly token: string }>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly signIn: SignInService;
  readonly imageSessions: Pick<ImageSessions, 'forget'>;
  readonly waitingNotices: Pick<WaitingNotices, 'asked'>;
}

/** An identity token has three parts; a token of ours has one. */
export function isIdentityToken(token: string): boolean {
  return token.includes('.');
}

export function createExternalSignIn({
  config,
  db,
  now,
  audit,
  signIn,
  imageSessions,
  waitingNotices,
}: Ground): ExternalSignIn {
  const { external } = config.signIn;
  const provider = external && createIdentityProvider({ provider: external, now });

  /** The account of this person, and what became of it just now. */
  async function accountOf(tx: Change, person: ExternalPerson, origin: Origin) {
    const identity = { provider: person.issuer, subject: person.subject };
    const uid = await findUidOfIdentity(tx, identity);
    const known = uid && (await findUser(tx, uid));
    if (known) return { user: known, news: null };
    if (person.email === null) {
      throw new AppError('token_invalid', {
        message: {
          tr: 'Kimlik hizmeti e-posta adresinizi bildirmedi.',
          en: 'The sign-in service did not tell your e-mail address.',
        },
      });
    }

    const at = now().toISOString();
    const sameAddress = await findUserByEmail(tx, person.email);
    if (sameAddress === null) {
      const { email, displayName } = person;
      const user = rules.register({ uid: randomUUID(), email, displayName }, at);
      await insertUser(tx, user);
      await insertIdentity(tx, user.uid, identity);
      const detail = { issuer: person.issuer };
      await audit.record(tx, { action: 'registered', actor: null, target: user.uid, detail, origin });
      return { user, news: 'made' as const };
    }

    if (!external?.linkByEmail || !person.isEmailVerified) {
      throw new AppError('email_taken', {
        message: {
          tr: 'Bu e-posta adresiyle açılmış, dış kimliğinize bağlı olmayan bir hesap var. Lütfen bir yöneticiyle iletişime geçin.',
          en: 'There is an account with this e-mail address that is not linked to your external identity. Please contact an administrator.',
        },
      });
    }
    // Whoever chose that password never proved that the address was theirs.
    await deletePassword(tx, sameAddress.uid);
    await deleteResetsOf(tx, sameAddress.uid);
    await signIn.revokeAll(tx, sameAddress.uid);
    await insertIdentity(tx, sameAddress.uid, identity);
    const user = { ...sameAddress, updatedAt: at };
    await updateUser(tx, user);
    const detail = { issuer: person.issuer };
    await audit.record(tx, { action: 'identity-linked', actor: user.uid, target: user.uid, detail, origin });
    return { user, news: 'taken up' as const };
  }

  return {
    async signIn(idToken, nonce, origin) {
      try {
        if (provider === null) throw new AppError('token_invalid');
        const person = await provider.personOf(idToken, nonce);
        const { user, token, news } = await change(db, 'accounts', async (tx) => {
          const spent = { hash: hashSecret(idToken), expires_at: person.tokenEndsAt.toISOString() };
          if (!(await spendIdentityToken(tx, spent, now()))) {
            throw new AppError('token_invalid', { cause: new Error('taken before') });
          }
          const account = await accountOf(tx, person, origin);
          const issued = await signIn.issueToken(tx, account.user, origin);
          const { uid } = account.user;
          const detail = { issuer: person.issuer };
          await audit.record(tx, { action: 'sign-in', actor: uid, target: uid, detail, origin });
          return { ...account, token: issued.token };
        });
        if (news === 'taken up') imageSessions.forget({ uid: user.uid });
        if (news === 'made') waitingNotices.asked();
        return { user: rules.standing(user, now()), token };
      } catch (error) {
        if (error instanceof AppError) {
          const { cause } = error;
          const reason = cause instanceof Error ? cause.message.slice(0, 200) : null;
          const detail = { code: error.code, reason };
          await audit.note({
            action: 'token-refused',
            result: 'refused',
            actor: null,
            target: null,
            detail,
            origin,
          });
        }
        throw error;
      }
    },
  };
}
