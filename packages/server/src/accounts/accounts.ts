/**
 * All operations on accounts, for the HTTP endpoints: registration, sign-in, passwords, deletion, and the decisions of
 * administrators. Each change is one transaction: the check of the state, the new state, the revocation of tokens (of
 * sign-ins, and API tokens) and the audit event succeed or fail together. The lock `accounts` lets only one transaction
 * at a time change accounts, tokens and grants. If a change ends image sessions (the credentials of pixel requests), the
 * operation drops them from the cache after the commit, before it returns. The file is long because all operations share
 * the transaction, the checks and the steps after a commit.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type GrantableRole,
  type Language,
  may,
  type User,
  type UserDetails,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditEntry, AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import * as rules from '../domain/account.ts';
import { emailKey } from '../domain/email.ts';
import type { AdminDigest } from '../mail/admin-digest.ts';
import {
  approvedEmail,
  passwordChangedEmail,
  passwordResetEmail,
  type Recipient,
  rejectedEmail,
} from '../mail/email-texts.ts';
import type { Email, Mail } from '../mail/mail.ts';
import type { Recipients } from '../mail/recipients.ts';
import type { Background } from '../platform/background-tasks.ts';
import type { Config } from '../platform/config.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { IssuedToken, SignInService } from '../sessions/sign-in-service.ts';
import type { ConfirmedRegistration } from '../sign-in/confirmed-registration.ts';
import { requireOwnPassword } from '../sign-in/own-password.ts';
import { rejectGuessablePassword } from '../sign-in/password-rules.ts';
import type { SecondFactor } from '../sign-in/second-factor.ts';
import type { Throttle } from '../sign-in/throttle.ts';
import { releaseLayersOf } from '../store/annotation-layers.ts';
import { insertApplication, setDecisionReason } from '../store/applications.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import { deleteGrantsOf, replaceGrants } from '../store/dataset-grants.ts';
import { answerDatasetRequests } from '../store/dataset-requests.ts';
import { findDataset } from '../store/datasets.ts';
import { releaseResultLayersOf } from '../store/result-layers.ts';
import { endShareLinksOf } from '../store/share-links.ts';
import { findUserDetails } from '../store/user-details.ts';
import {
  deleteUser,
  findUser,
  findUserByEmail,
  hasOtherActiveAdmin,
  insertUser,
  updateUser,
} from '../store/users.ts';
import { type PeoplePage, type PeopleQuery, searchPeople } from './people-search.ts';

/**
 * `actor` is the signed-in caller; if the sign-in or the permission has ended meanwhile, changes throw token_invalid or forbidden.
 * `origin` is the client of a request without a sign-in, for rate limits and the audit log.
 */
export interface Accounts {
  /**
   * Registers an account. With the setting `REGISTRATION_HIDE_EXISTING`, the account is created later, when the applicant has
   * confirmed the e-mail address (`ConfirmedRegistration.confirm`).
   *
   * @throws AppError email_taken, unless existing addresses are hidden; invalid_request, rate_limited, unavailable
   */
  register(person: NewPerson, origin: Origin): Promise<User>;
  /**
   * Checks password and second factor, and issues a bearer token.
   *
   * @throws AppError credentials_invalid, account_not_active, second_factor_required, second_factor_invalid,
   *   rate_limited, unavailable
   */
  signIn(credentials: Credentials, origin: Origin): Promise<IssuedToken>;
  signOut(actor: Actor): Promise<void>;
  /** Mails a reset link in the background: the response does not reveal whether the address is known. @throws AppError rate_limited */
  requestPasswordReset(email: string, origin: Origin): Promise<void>;
  /** Checks that a reset link is valid, without consuming it. @throws AppError reset_link_invalid, rate_limited */
  checkPasswordReset(code: string, origin: Origin): Promise<void>;
  /**
   * Sets a new password and revokes all tokens of the account.
   *
   * @throws AppError reset_link_invalid, invalid_request, rate_limited, unavailable
   */
  confirmPasswordReset(code: string, newPassword: string, origin: Origin): Promise<void>;
  /**
   * Changes the password and revokes all tokens but the caller's. `serve` (http/serve.ts) rejects a request that needs the
   * current password and does not contain it.
   *
   * @throws AppError reauth_required, invalid_request, rate_limited, unavailable
   */
  changeOwnPassword(actor: Actor, passwords: { current?: string | undefined; next: string }): Promise<void>;
  /** Deletes the caller's account. The audit log keeps the uid. @throws AppError reauth_required, rate_limited, last_admin */
  deleteOwn(actor: Actor, currentPassword: string | undefined): Promise<void>;

  list(query: PeopleQuery): Promise<PeoplePage>;
  /** Returns an account; one whose end date has passed has the status `suspended`. @throws AppError not_found */
  get(uid: string): Promise<UserDetails>;
  /**
   * Approves an account. With `onlyPending`, throws not_pending for a suspended or deactivated account.
   *
   * @throws AppError not_found, already_active, not_pending, invalid_request
   */
  approve(actor: Actor, uid: string, approval: Approval): Promise<void>;
  /**
   * Makes an account pending again, without datasets, at most ten minutes after its first approval.
   *
   * @throws AppError not_found, not_active, approval_settled
   */
  withdrawApproval(actor: Actor, uid: string): Promise<void>;
  /** Suspends a pending account, whose owner can still read the reason. @throws AppError not_found, not_pending */
  reject(actor: Actor, uid: string, reason: string): Promise<void>;
  /** Changes the access of an active account. @throws AppError not_found, not_active, invalid_request */
  changeAccess(actor: Actor, uid: string, access: Access): Promise<void>;
  /** Suspends an account; revokes its tokens. @throws AppError not_found, closed (deactivated), self_change, last_admin */
  suspend(actor: Actor, uid: string): Promise<void>;
  /** Deactivates an account; revokes its tokens and grants. @throws AppError not_found, self_change, last_admin */
  deactivate(actor: Actor, uid: string): Promise<void>;
  /** Makes an active account an administrator and revokes its tokens. @throws AppError not_found, not_active */
  promote(actor: Actor, uid: string): Promise<void>;
  /** Sets an account's password; revokes its tokens. @throws AppError not_found, self_change, closed, invalid_request, unavailable */
  setPassword(actor: Actor, uid: string, newPassword: string): Promise<void>;
}

/** Access that an administrator gives to an account. Undefined fields stay unchanged; only an approval removes a past end date. */
export interface Access {
  /** Names of all restricted datasets that are granted to the account; its grants for other restricted datasets are revoked. */
  readonly datasets?: readonly string[] | undefined;
  /** End of the access (ISO 8601); null means that the account never expires. */
  readonly expiresAt?: string | null | undefined;
}

/** Approval of an account by an administrator. */
export interface Approval extends Access {
  /** Role of the account; undefined gives the default role. */
  readonly role?: GrantableRole | undefined;
  /** Whether the approval applies only to pending accounts. */
  readonly onlyPending?: boolean;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Code of the second factor, if the account has one. */
  readonly code?: string | undefined;
}

interface NewPerson {
  readonly email: string;
  readonly password: string;
  readonly displayName?: string | undefined;
  readonly affiliation?: string | undefined;
  readonly purpose?: string | undefined;
  /** Language of e-mails to the account. */
  readonly language: Language;
}

export interface AccountsDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly mail: Mail;
  readonly background: Background;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly actionLimiter: ActionLimiter;
  readonly secondFactor: SecondFactor;
  readonly confirmedRegistration: Pick<ConfirmedRegistration, 'request'>;
  readonly imageSessions: Pick<ImageSessions, 'evictEnded' | 'invalidateRights'>;
  readonly adminDigest: Pick<AdminDigest, 'schedule'>;
  readonly recipients: Recipients;
}

/** A uid that no account has. Checking a password for this uid takes as long as for an existing account. */
const uidOfNoAccount = 'no account';

/** Returns who requests a password hash: hashing is slow, so its capacity is shared fairly between networks and accounts. */
const hashRequester = (email: string, { address }: Origin) => ({ address, account: emailKey(email) });

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const {
    config,
    db,
    audit,
    mail,
    background,
    signIn,
    throttle,
    actionLimiter,
    secondFactor,
    confirmedRegistration,
    imageSessions,
    adminDigest,
    recipients,
  } = dependencies;
  const nowIso = () => dependencies.now().toISOString();

  /** Queues an e-mail in the transaction of the change that the e-mail reports. After the commit, `mail.wake` sends queued e-mails. */
  async function queueEmail(
    tx: DatabaseTransaction,
    account: Pick<User, 'uid' | 'email'>,
    composeEmail: (recipient: Recipient) => Email,
  ): Promise<void> {
    await mail.queue(tx, composeEmail(await recipients.forAccount(tx, account)));
  }

  /** Runs an operation. If the operation is rejected, its transaction is rolled back, and a separate one records the rejection. */
  async function auditRejection<T>(entry: AuditEntry, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.status < 500) {
        await audit.recordSeparately({ ...entry, result: 'refused', detail: { code: error.code } });
      }
      throw error;
    }
  }

  /**
   * Applies an administrator's change to an account, and records its audit event. Checks that the caller may still manage accounts.
   *
   * @param revokesTokens whether all tokens and image sessions of the account end. They are deleted before the first audit event,
   *   because the lock of the audit log must be the last one that a transaction acquires
   * @param applyRule rule of domain/account.ts: returns the changed account, or the same object if nothing changes;
   *   throws when the change is not allowed. `context` has the other facts on which the rules depend
   * @param writeMore further writes in the same transaction
   */
  async function administer(
    {
      actor,
      uid,
      action,
      revokesTokens = false,
    }: { actor: Actor; uid: string; action: AuditAction; revokesTokens?: boolean },
    applyRule: (user: User, context: Parameters<typeof rules.suspend>[1]) => User,
    writeMore: (tx: DatabaseTransaction, after: User) => Promise<void> = async () => undefined,
  ): Promise<User> {
    const entry = { action, actor: actor.uid, target: uid, origin: actor.origin };
    return auditRejection(entry, () =>
      runLockedTransaction(db, 'accounts', async (tx) => {
        const stored = await findUser(tx, uid);
        if (stored === null) throw new AppError('not_found');
        const user = rules.effectiveAccount(stored, dependencies.now());
        const hadExpired = user !== stored; // an account that has not expired is returned as the same object
        const isOtherAdminActive = await hasOtherActiveAdmin(tx, uid);
        const after = applyRule(user, { actor: actor.uid, isOtherAdminActive, now: nowIso() });
        await recheckCaller(tx, signIn, actor, 'users.manage');
        if (after === user) return user;
        // A new end date must not make the tokens valid again that were issued before the account expired.
        if (hadExpired && user.expiresAt !== null) await signIn.revokeIssuedBefore(tx, uid, user.expiresAt);
        if (revokesTokens) await signIn.revokeAll(tx, uid);
        await updateUser(tx, after);
        await endShareLinksIfRightLost(tx, { after, hadExpired }, actor);
        const before = { status_before: user.status, role_before: user.role };
        await audit.record(tx, { ...entry, detail: { ...before, status: after.status, role: after.role } });
        if (after.expiresAt !== user.expiresAt) {
          const detail = { expires_at: after.expiresAt };
          await audit.record(tx, { ...entry, action: 'expiry-changed', detail });
        }
        await writeMore(tx, after);
        return after;
      }),
    );
  }

  /**
   * Ends the share links (URLs that show slides without an account) of an account that may no longer share. Also ends those of an
   * account that had expired: the links stopped working then, and a later approval must not make them work again.
   */
  async function endShareLinksIfRightLost(
    tx: DatabaseTransaction,
    { after, hadExpired }: { after: User; hadExpired: boolean },
    actor: Actor,
  ): Promise<void> {
    if (may(after, 'sharing.own') && !hadExpired) return;
    const endedLinkIds = await endShareLinksOf(tx, after.uid, nowIso());
    await audit.recordAll(
      tx,
      endedLinkIds.map((target) => ({
        action: 'share-link-ended',
        actor: actor.uid,
        target,
        detail: { owner: after.uid },
        origin: actor.origin,
      })),
    );
  }

  async function get(uid: string): Promise<UserDetails> {
    const user = await findUserDetails(db, uid);
    if (user === null) throw new AppError('not_found');
    return rules.effectiveAccount(user, dependencies.now());
  }

  /**
   * Returns the account that a reset code belongs to. An invalid code counts as a failed attempt, like a wrong password,
   * but not for the limits per account: the account is not known before the check (`email: null`).
   *
   * @throws AppError reset_link_invalid, rate_limited
   */
  function ownerOfReset(code: string, origin: Origin): Promise<User> {
    return throttle.guard('password', { email: null, origin }, async () => {
      const owner = await signIn.ownerOfReset(code);
      if (owner === null) throw new AppError('reset_link_invalid');
      return owner;
    });
  }

  /**
   * Replaces the grants of an account for restricted datasets and answers its open requests for these datasets.
   *
   * @param names names of the datasets in any spelling; undefined changes nothing
   * @throws AppError invalid_request for a dataset that has no access settings
   */
  async function replaceDatasetGrants(
    tx: DatabaseTransaction,
    actor: Actor,
    uid: string,
    names: Access['datasets'],
  ): Promise<void> {
    if (names === undefined) return;
    const changedAt = nowIso();
    const datasets: string[] = [];
    for (const name of names) datasets.push(await spellingOf(tx, 'dataset', name));
    for (const dataset of datasets) {
      if ((await findDataset(tx, dataset))?.access === 'restricted') continue;
      throw new AppError('invalid_request', {
        reason: 'dataset_not_restricted',
        name: dataset,
        field: 'datasets',
      });
    }
    const grants = { uid, grantedBy: actor.uid, now: changedAt };
    const { added, removed } = await replaceGrants(tx, grants, datasets);
    await answerDatasetRequests(
      tx,
      { uid, datasets },
      { answer: 'granted', reason: null, answeredBy: actor.uid, now: changedAt },
    );
    await recordGrantChanges(tx, actor, uid, 'dataset-granted', added);
    await recordGrantChanges(tx, actor, uid, 'dataset-revoked', removed);
  }

  /** Revokes all dataset grants of an account, also grants for open datasets, which permit downloads. */
  async function revokeDatasetGrants(tx: DatabaseTransaction, actor: Actor, uid: string): Promise<void> {
    await recordGrantChanges(tx, actor, uid, 'dataset-revoked', await deleteGrantsOf(tx, uid));
  }

  /** Records one audit event for each dataset. */
  function recordGrantChanges(
    tx: DatabaseTransaction,
    actor: Actor,
    uid: string,
    action: 'dataset-granted' | 'dataset-revoked',
    datasets: readonly string[],
  ): Promise<void> {
    const entry = { action, actor: actor.uid, target: uid, origin: actor.origin };
    return audit.recordAll(
      tx,
      datasets.map((dataset) => ({ ...entry, detail: { dataset } })),
    );
  }

  return {
    async register({ email, password, displayName, affiliation, purpose, language }, origin) {
      const attempt = { email, origin };
      await throttle.count('registration', attempt);
      rejectGuessablePassword(password, { email, displayName }, 'password');
      const user = rules.register({ uid: randomUUID(), email, displayName: displayName ?? null }, nowIso());
      // The password is hashed even if the address has an account, so that the duration does not reveal that.
      const passwordHash = await signIn.hashPassword(password, hashRequester(email, origin));
      if (config.registrationHideExisting) {
        confirmedRegistration.request({ user, passwordHash, affiliation, purpose, language }, origin);
        return user;
      }
      const existing = await runLockedTransaction(db, 'accounts', async (tx) => {
        const accountWithEmail = await findUserByEmail(tx, email);
        await audit.record(tx, {
          action: 'registered',
          result: accountWithEmail === null ? 'done' : 'refused',
          actor: null,
          target: accountWithEmail?.uid ?? user.uid,
          origin,
        });
        if (accountWithEmail !== null) return accountWithEmail;
        await insertUser(tx, user, language);
        await signIn.signUp(tx, user.uid, passwordHash);
        if (affiliation !== undefined || purpose !== undefined) {
          const application = { affiliation: affiliation ?? null, purpose: purpose ?? null };
          await insertApplication(tx, { uid: user.uid, ...application });
        }
        return null;
      });
      if (existing !== null) throw new AppError('email_taken');
      await throttle.rememberNetwork(attempt); // fewer limits apply to sign-ins from this network
      adminDigest.schedule(); // e-mails administrators about new applications
      return user;
    },

    async signIn({ email, password, code }, origin) {
      /**
       * Checks the second factor, if the account has one. Returns which kind of code was used, or null if there is no second factor.
       *
       * @throws AppError second_factor_required, second_factor_invalid
       */
      async function checkSecondFactor(tx: DatabaseTransaction, uid: string): Promise<string | null> {
        if (!(await secondFactor.isOn(tx, uid))) return null;
        if (code === undefined) throw new AppError('second_factor_required');
        return secondFactor.consumeCode(tx, uid, code);
      }

      const authenticationStep = code === undefined ? 'password' : 'second-factor';
      try {
        const issued = await throttle.guard(
          authenticationStep,
          { email, origin },
          (requireAllowed) =>
            signIn.signIn(email, password, origin, async (tx, { uid }, endedSignIns) => {
              const usedCode = await checkSecondFactor(tx, uid);
              await requireAllowed(tx); // counts the success; throws rate_limited if a limit was reached during the check
              const detail = {
                ...(usedCode !== null && { second_factor: usedCode }),
                ...(endedSignIns.length > 0 && { oldest_sign_ins_ended: endedSignIns.length }),
              };
              await audit.record(tx, { action: 'sign-in', actor: uid, target: uid, detail, origin });
            }),
          // Runs instead of the sign-in when a limit for unknown networks is reached (429), and takes equally long, because it hashes too.
          () => signIn.isPasswordOf(uidOfNoAccount, password, hashRequester(email, origin)),
        );
        for (const tokenHash of issued.endedTokenHashes) imageSessions.evictEnded({ tokenHash });
        return issued;
      } catch (error) {
        // The throttle itself audits rate limits: one event for each blocking period instead of one for each attempt.
        if (error instanceof AppError && error.status < 500 && error.code !== 'rate_limited') {
          const target = (await findUserByEmail(db, email))?.uid ?? null;
          const detail = { code: error.code };
          await audit.recordSeparately({
            action: 'sign-in',
            result: 'refused',
            actor: null,
            target,
            detail,
            origin,
          });
        }
        throw error;
      }
    },

    async signOut({ uid, tokenHash, origin }) {
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await signIn.signOut(tx, tokenHash);
        await audit.record(tx, { action: 'sign-out', actor: uid, target: uid, origin });
      });
      imageSessions.evictEnded({ tokenHash });
    },

    async requestPasswordReset(email, origin) {
      const attempt = { email, origin };
      await throttle.count('reset-request', attempt);
      background.run(
        'password reset e-mail could not be queued; the user can request another one',
        async () => {
          if (!(await throttle.mayMail(attempt))) return; // too many e-mails to this address
          await runLockedTransaction(db, 'accounts', async (tx) => {
            const reset = await signIn.createReset(tx, email);
            await audit.record(tx, {
              action: 'password-reset-requested',
              result: reset === null ? 'refused' : 'done',
              actor: null,
              target: reset?.user.uid ?? null,
              origin,
            });
            if (reset === null) return; // the address belongs to no account whose password can be reset
            const { code, user } = reset;
            await queueEmail(tx, user, (recipient) => passwordResetEmail(recipient, code));
          });
          mail.wake();
        },
      );
    },

    async checkPasswordReset(code, origin) {
      await ownerOfReset(code, origin);
    },

    async confirmPasswordReset(code, newPassword, origin) {
      const codeOwner = await ownerOfReset(code, origin);
      rejectGuessablePassword(newPassword, codeOwner, 'new_password');
      const passwordHash = await signIn.hashPassword(newPassword, hashRequester(codeOwner.email, origin));
      const user = await runLockedTransaction(db, 'accounts', async (tx) => {
        const owner = await signIn.consumeReset(tx, code);
        if (owner === null) throw new AppError('reset_link_invalid');
        await signIn.setPassword(tx, owner.uid, passwordHash);
        await signIn.revokeAll(tx, owner.uid);
        await updateUser(tx, { ...owner, updatedAt: nowIso() });
        await audit.record(tx, { action: 'password-reset', actor: owner.uid, target: owner.uid, origin });
        await queueEmail(tx, owner, passwordChangedEmail);
        return owner;
      });
      imageSessions.evictEnded({ uid: user.uid });
      mail.wake();
    },

    async changeOwnPassword(actor, { current: currentPassword, next: newPassword }) {
      const { uid, tokenHash, origin } = actor;
      const entry = { action: 'password-changed', actor: uid, target: uid, origin } as const;
      await auditRejection(entry, async () => {
        await requireOwnPassword({ signIn, throttle }, actor, currentPassword);
        const owner = await findUser(db, uid);
        // A missing account was deleted during the request: `recheckCaller` rejects the change.
        if (owner !== null) rejectGuessablePassword(newPassword, owner, 'new_password');
        const passwordHash = await signIn.hashPassword(newPassword, hashRequester(actor.email, origin));
        return runLockedTransaction(db, 'accounts', async (tx) => {
          const user = await recheckCaller(tx, signIn, actor, 'account.password');
          await actionLimiter.requireAllowed(tx, 'password-changed', actor); // throws rate_limited after too many changes
          await signIn.setPassword(tx, uid, passwordHash);
          await signIn.revokeAll(tx, uid, tokenHash);
          await updateUser(tx, { ...user, updatedAt: nowIso() });
          await audit.record(tx, entry);
          await queueEmail(tx, user, passwordChangedEmail);
        });
      });
      imageSessions.evictEnded({ uid, exceptTokenHash: tokenHash });
      mail.wake();
    },

    async deleteOwn(actor, currentPassword) {
      const { uid, origin } = actor;
      const entry = { action: 'account-deleted', actor: uid, target: uid, origin } as const;
      await auditRejection(entry, async () => {
        await requireOwnPassword({ signIn, throttle }, actor, currentPassword);
        await runLockedTransaction(db, 'accounts', async (tx) => {
          const user = await recheckCaller(tx, signIn, actor, 'account.delete');
          rules.checkMayDeleteOwnAccount(user, await hasOtherActiveAdmin(tx, uid));
          await signIn.revokeAll(tx, uid);
          await releaseLayersOf(tx, uid, nowIso()); // annotation layers: those visible to others stay
          await releaseResultLayersOf(tx, uid); // layers that programs have computed stay
          await deleteUser(tx, uid);
          await audit.record(tx, entry);
        });
      });
      imageSessions.evictEnded({ uid });
    },

    list: (query) => searchPeople(db, query, dependencies.now()),

    get,

    // The tokens of the applicant stay valid, so that an open account-status page can continue to the dashboard.
    async approve(actor, uid, { role, datasets, expiresAt, onlyPending = false }) {
      await administer(
        { actor, uid, action: 'approved' },
        (target, { now }) => {
          // For an active account, `rules.approve` throws `already_active` instead.
          if (onlyPending && target.status !== 'pending' && target.status !== 'active')
            throw new AppError('not_pending');
          return rules.withEndDate(rules.approve(target, role, now), expiresAt, now);
        },
        async (tx, user) => {
          await setDecisionReason(tx, uid, null); // deletes the reason of an earlier rejection
          await replaceDatasetGrants(tx, actor, uid, datasets);
          await queueEmail(tx, user, (recipient) => approvedEmail(recipient, user));
        },
      );
      imageSessions.invalidateRights({ uid }); // the sessions continue, and their rights are read again
      mail.wake();
    },

    async withdrawApproval(actor, uid) {
      await administer(
        { actor, uid, action: 'approval-withdrawn', revokesTokens: true },
        (user, { now }) => rules.withdrawApproval(user, now),
        (tx) => revokeDatasetGrants(tx, actor, uid),
      );
      imageSessions.evictEnded({ uid });
    },

    // The tokens of the applicant stay valid. They open only the account-status page, which shows the reason.
    async reject(actor, uid, reason) {
      await administer(
        { actor, uid, action: 'rejected' },
        (target, { now }) => rules.reject(target, now),
        async (tx, user) => {
          await setDecisionReason(tx, uid, reason);
          await queueEmail(tx, user, (recipient) => rejectedEmail(recipient, reason));
        },
      );
      mail.wake();
    },

    async changeAccess(actor, uid, { datasets, expiresAt }) {
      await administer(
        { actor, uid, action: 'access-changed' },
        (target, { now }) => rules.changeAccess(target, expiresAt, now),
        (tx) => replaceDatasetGrants(tx, actor, uid, datasets),
      );
      imageSessions.invalidateRights({ uid });
    },

    async suspend(actor, uid) {
      await administer({ actor, uid, action: 'suspended', revokesTokens: true }, rules.suspend);
      imageSessions.evictEnded({ uid });
    },

    async deactivate(actor, uid) {
      // A deactivated account loses its dataset grants; reactivating it does not restore them.
      await administer({ actor, uid, action: 'deactivated', revokesTokens: true }, rules.deactivate, (tx) =>
        revokeDatasetGrants(tx, actor, uid),
      );
      imageSessions.evictEnded({ uid });
    },

    async promote(actor, uid) {
      await administer({ actor, uid, action: 'promoted', revokesTokens: true }, (user, { now }) =>
        rules.promote(user, now),
      );
      imageSessions.evictEnded({ uid });
    },

    async setPassword(actor, uid, newPassword) {
      rejectGuessablePassword(newPassword, await get(uid), 'new_password'); // checked first, because hashing is slow
      const passwordHash = await signIn.hashPassword(newPassword, hashRequester(actor.email, actor.origin));
      await administer(
        { actor, uid, action: 'password-set', revokesTokens: true },
        rules.replacePassword,
        async (tx, target) => {
          await signIn.setPassword(tx, target.uid, passwordHash);
          await queueEmail(tx, target, passwordChangedEmail);
        },
      );
      imageSessions.evictEnded({ uid });
      mail.wake();
    },
  };
}
