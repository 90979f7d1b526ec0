/**
 * Signs in with the ID token of an external provider (OpenID Connect), and issues a bearer token of this server. The account is found by
 * issuer and subject, the identifier of the user at the provider. An unknown person gets a new account, which waits for approval.
 * If the settings allow it, an unknown person is linked to the account with the same verified e-mail address instead.
 */
import { randomUUID } from 'node:crypto';
import { AppError, type Language, type User } from '@lamina/contract';
import type { AuditEntry, AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import * as accountRules from '../domain/account.ts';
import type { AdminDigest } from '../mail/admin-digest.ts';
import type { Config } from '../platform/config.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import { deletePassword, findUidOfIdentity, hasIdentityOf, insertIdentity } from '../store/identities.ts';
import { deleteResetsOf } from '../store/password-resets.ts';
import { consumeIdentityToken } from '../store/spent-identity-tokens.ts';
import { findUser, findUserByEmail, insertUser, updateUser } from '../store/users.ts';
import { createIdentityProvider, type ExternalPerson } from './identity-provider.ts';

export interface ExternalSignIn {
  /**
   * Returns the account and a new bearer token.
   *
   * @param nonce value that the browser sent to the provider and that the token must contain; undefined: the browser sent none
   * @param language language of e-mails to an account that this call creates
   * @throws AppError token_invalid, token_unverifiable; email_taken when another account has the address and linking it
   *   is not allowed; account_not_active for a deactivated account
   */
  signIn(
    idToken: string,
    nonce: string | undefined,
    origin: Origin,
    language: Language,
  ): Promise<{ readonly user: User; readonly token: string }>;
}

interface ExternalSignInDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly signIn: SignInService;
  readonly imageSessions: Pick<ImageSessions, 'evictEnded'>;
  readonly adminDigest: Pick<AdminDigest, 'schedule'>;
}

/** Returns whether a token is an ID token, whose parts are separated by dots. A bearer token of this server contains no dot. */
export function isIdentityToken(token: string): boolean {
  return token.includes('.');
}

/** Cause of an AppError: the account with the same e-mail address is already linked to another subject of the issuer. */
class LinkRejection extends Error {
  override readonly name = 'LinkRejection';
  readonly uid: string;
  readonly issuer: string;

  constructor(uid: string, issuer: string) {
    super('linked to another subject');
    this.uid = uid;
    this.issuer = issuer;
  }
}

/** Returns the audit event for a failed sign-in. The reason is for administrators; the response does not contain it. */
function rejectionEventOf({ code, cause }: AppError): Pick<AuditEntry, 'action' | 'target' | 'detail'> {
  if (cause instanceof LinkRejection) {
    return { action: 'identity-linked', target: cause.uid, detail: { code, issuer: cause.issuer } };
  }
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : null;
  return { action: 'token-refused', target: null, detail: { code, reason } };
}

/**
 * Returns header and payload, which the signature covers (RFC 7515 section 5.2). They identify a used token. The whole token does not,
 * because a client can change a valid signature into another valid one: the last character of base64url has unused bits, and an ECDSA
 * signature (r, s) is also valid as (r, n - s).
 */
function signedPartOf(idToken: string): string {
  return idToken.slice(0, idToken.lastIndexOf('.'));
}

export function createExternalSignIn({
  config,
  db,
  now,
  audit,
  signIn,
  imageSessions,
  adminDigest,
}: ExternalSignInDependencies): ExternalSignIn {
  const { external } = config.signIn;
  const provider = external && createIdentityProvider({ provider: external, now });

  /**
   * Returns the account that is linked to the person, or links the account with the same e-mail address, or creates an account.
   * `accountChange` states whether this call has linked or created the account.
   */
  async function accountOf(
    tx: DatabaseTransaction,
    person: ExternalPerson,
    origin: Origin,
    language: Language,
  ) {
    const identity = { provider: person.issuer, subject: person.subject };
    const uid = await findUidOfIdentity(tx, identity);
    const knownUser = uid && (await findUser(tx, uid));
    if (knownUser) return { user: knownUser, accountChange: null };
    if (person.email === null) {
      throw new AppError('token_invalid', { reason: 'external_email_missing' });
    }

    const timestamp = now().toISOString();
    const sameAddressUser = await findUserByEmail(tx, person.email);
    if (sameAddressUser === null) {
      const { email, displayName } = person;
      const user = accountRules.register({ uid: randomUUID(), email, displayName }, timestamp);
      await insertUser(tx, user, language);
      await insertIdentity(tx, user.uid, identity);
      const detail = { issuer: person.issuer };
      await audit.record(tx, { action: 'registered', actor: null, target: user.uid, detail, origin });
      return { user, accountChange: 'created' as const };
    }

    if (!external?.linkByEmail || !person.isEmailVerified) {
      throw new AppError('email_taken', { reason: 'external_identity_not_linked' });
    }
    // The provider may reassign an e-mail address to another user; it never reassigns a subject.
    if (await hasIdentityOf(tx, sameAddressUser.uid, person.issuer)) {
      throw new AppError('email_taken', {
        reason: 'external_identity_differs',
        cause: new LinkRejection(sameAddressUser.uid, person.issuer),
      });
    }
    // Another user may have registered this account and know its password: not every registration verifies the address.
    await deletePassword(tx, sameAddressUser.uid);
    await deleteResetsOf(tx, sameAddressUser.uid);
    await signIn.revokeAll(tx, sameAddressUser.uid);
    await insertIdentity(tx, sameAddressUser.uid, identity);
    const user = { ...sameAddressUser, updatedAt: timestamp };
    await updateUser(tx, user);
    const detail = { issuer: person.issuer };
    await audit.record(tx, { action: 'identity-linked', actor: user.uid, target: user.uid, detail, origin });
    return { user, accountChange: 'linked' as const };
  }

  return {
    async signIn(idToken, nonce, origin, language) {
      try {
        if (provider === null) throw new AppError('token_invalid'); // the settings name no external provider
        const person = await provider.personOf(idToken, nonce);
        const { user, issued, accountChange } = await runLockedTransaction(db, 'accounts', async (tx) => {
          // The hash is stored until the token expires, so that the token cannot be used again.
          const usedToken = {
            hash: hashSecret(signedPartOf(idToken)),
            expires_at: person.tokenEndsAt.toISOString(),
          };
          if (!(await consumeIdentityToken(tx, usedToken, now()))) {
            throw new AppError('token_invalid', { cause: new Error('the ID token was used before') });
          }
          const account = await accountOf(tx, person, origin, language);
          const issued = await signIn.issueToken(tx, account.user, origin);
          const { uid } = account.user;
          const detail = { issuer: person.issuer };
          await audit.record(tx, { action: 'sign-in', actor: uid, target: uid, detail, origin });
          return { ...account, issued };
        });
        // The image sessions that linking and the new sign-in have ended may still be in the cache of this process.
        if (accountChange === 'linked') imageSessions.evictEnded({ uid: user.uid });
        for (const tokenHash of issued.endedTokenHashes) imageSessions.evictEnded({ tokenHash });
        if (accountChange === 'created') adminDigest.schedule();
        // An account whose end date has passed counts as suspended.
        return { user: accountRules.effectiveAccount(user, now()), token: issued.token };
      } catch (error) {
        if (error instanceof AppError) {
          await audit.recordSeparately({
            ...rejectionEventOf(error),
            result: 'refused',
            actor: null,
            origin,
          });
        }
        throw error;
      }
    },
  };
}
