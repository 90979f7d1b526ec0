/**
 * Everything that happens to accounts. Each change is one transaction: the state check, the new state,
 * what it revokes and the audit record succeed or fail together. What was held in memory of an account
 * is dropped after the commit and before the call returns.
 */
import { randomUUID } from 'node:crypto';
import { AppError, type GrantableRole, type Role, type User, type UserDetails } from '@lamina/contract';
import type { Audit, AuditAction, AuditEntry, Origin } from './audit.ts';
import type { Background } from './background.ts';
import { callerNow } from './caller-now.ts';
import type { Config } from './config.ts';
import * as rules from './domain/account.ts';
import type { ImageSessions } from './image-sessions.ts';
import type { Letter, Mail } from './mail/mail.ts';
import {
  alreadyRegisteredLetter,
  approvedLetter,
  passwordChangedLetter,
  passwordResetLetter,
  rejectedLetter,
} from './mail/texts.ts';
import { requireOwnPassword } from './sign-in/own-password.ts';
import { refuseGuessablePassword } from './sign-in/password-rules.ts';
import type { SecondFactor } from './sign-in/second-factor.ts';
import type { IssuedToken, SignInService } from './sign-in/sign-in-service.ts';
import type { Throttle } from './sign-in/throttle.ts';
import { insertApplication, setDecisionReason } from './store/applications.ts';
import { type Change, change, type Database } from './store/database.ts';
import { replaceGrants } from './store/dataset-grants.ts';
import { answerDatasetRequests } from './store/dataset-requests.ts';
import { findDataset } from './store/datasets.ts';
import { findUserDetails, listUserDetails } from './store/user-details.ts';
import {
  deleteUser,
  findUser,
  findUserByEmail,
  hasOtherActiveAdmin,
  insertUser,
  updateUser,
} from './store/users.ts';
import type { WaitingNotices } from './waiting-notices.ts';

/** Who is behind a call, and where it came from. */
export interface By {
  readonly uid: string;
  readonly email: string;
  /** The sign-in that makes the call. */
  readonly tokenHash: string;
  readonly origin: Origin;
}

export interface Accounts {
  /** @throws AppError email_taken, unless existing addresses are hidden; invalid_request, rate_limited, unavailable */
  register(person: NewPerson, origin: Origin): Promise<User>;
  /**
   * @throws AppError credentials_invalid, account_not_active, second_factor_required, second_factor_invalid,
   *   rate_limited, unavailable
   */
  signIn(given: Credentials, origin: Origin): Promise<IssuedToken>;
  signOut(by: By): Promise<void>;
  /** Returns before it is done; what it does, or does not do, is not to be told from outside. @throws AppError rate_limited */
  requestPasswordReset(email: string, origin: Origin): Promise<void>;
  /** @throws AppError reset_link_invalid, unavailable */
  confirmPasswordReset(code: string, newPassword: string, origin: Origin): Promise<void>;
  /** Every other sign-in of the account ends. @throws AppError reauth_required, unavailable */
  changeOwnPassword(by: By, passwords: { current?: string | undefined; next: string }): Promise<void>;
  /** Erases the person; the uid alone stays, in the audit trail. @throws AppError reauth_required, last_admin */
  deleteOwn(by: By, currentPassword: string | undefined): Promise<void>;

  /** Newest first. */
  list(): Promise<UserDetails[]>;
  /** @throws AppError not_found */
  get(uid: string): Promise<UserDetails>;
  /** @throws AppError not_found, already_active, invalid_request */
  approve(by: By, uid: string, decision: Decision): Promise<void>;
  /** @throws AppError not_found, not_pending */
  reject(by: By, uid: string, reason: string): Promise<void>;
  /** Of an active account. @throws AppError not_found, not_active, invalid_request */
  changeAccess(by: By, uid: string, access: Access): Promise<void>;
  /** @throws AppError not_found, closed, self_change, last_admin */
  suspend(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, self_change, last_admin */
  deactivate(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, not_active */
  promote(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, closed, unavailable */
  setPassword(by: By, uid: string, newPassword: string): Promise<void>;
}

/** What an account may see, and how long. What is not said stays as it is. */
export interface Access {
  /** The restricted datasets that are granted to it, and no other. */
  readonly datasets?: readonly string[] | undefined;
  /** ISO 8601; null: it never ends. */
  readonly expiresAt?: string | null | undefined;
}

export interface Decision extends Access {
  readonly role?: GrantableRole | undefined;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, where the account has one. */
  readonly code?: string | undefined;
}

interface NewPerson {
  readonly email: string;
  readonly password: string;
  readonly displayName?: string | undefined;
  readonly affiliation?: string | undefined;
  readonly purpose?: string | undefined;
}

export interface AccountsGround {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly mail: Mail;
  readonly background: Background;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly secondFactor: SecondFactor;
  readonly imageSessions: Pick<ImageSessions, 'forget' | 'recheck'>;
  readonly waitingNotices: Pick<WaitingNotices, 'asked'>;
  /** Where the web app is reached: what letters link to. */
  readonly publicUrl: () => string;
}

const longDate = new Intl.DateTimeFormat('tr-TR', { dateStyle: 'long' });
const roleInLetters: Readonly<Record<Role, string>> = {
  admin: 'Yönetici',
  user: 'Kullanıcı',
  viewer: 'İzleyici',
  unassigned: 'Atanmamış',
};

export function createAccounts(ground: AccountsGround): Accounts {
  const {
    config,
    db,
    audit,
    mail,
    background,
    signIn,
    throttle,
    secondFactor,
    imageSessions,
    waitingNotices,
  } = ground;
  const now = () => ground.now().toISOString();

  /** In the change that the letter tells of; `mail.wake` sends it after the commit. */
  function post(
    tx: Change,
    letter: (words: Parameters<typeof passwordChangedLetter>[0]) => Letter,
    to: string,
  ): Promise<void> {
    return mail.queue(tx, letter({ to, productName: config.productName, publicUrl: ground.publicUrl() }));
  }

  /** What was refused is on record too, on its own, since the change itself did not happen. */
  async function recorded<T>(entry: AuditEntry, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.status < 500) {
        await audit.note({ ...entry, result: 'refused', detail: { code: error.code } });
      }
      throw error;
    }
  }

  /**
   * An administrator's change of an account.
   *
   * @param rule the account afterwards; the same object for no change
   * @param work what else happens in the change
   */
  async function administer(
    { by, uid, action }: { by: By; uid: string; action: AuditAction },
    rule: (user: User, asked: Parameters<typeof rules.suspend>[1]) => User,
    work: (tx: Change, after: User) => Promise<void> = async () => undefined,
  ): Promise<User> {
    const entry = { action, actor: by.uid, target: uid, origin: by.origin };
    return recorded(entry, () =>
      change(db, 'accounts', async (tx) => {
        const stored = await findUser(tx, uid);
        if (stored === null) throw new AppError('not_found');
        const user = rules.standing(stored, ground.now());
        const otherActiveAdmin = await hasOtherActiveAdmin(tx, uid);
        const after = rule(user, { by: by.uid, otherActiveAdmin, now: now() });
        await callerNow(tx, signIn, by, 'users.manage');
        if (after === user) return user;
        // What was issued before the account ended by itself is not revived with it.
        if (user !== stored && user.expiresAt !== null)
          await signIn.revokeFromBefore(tx, uid, user.expiresAt);
        await updateUser(tx, after);
        const before = { status_before: user.status, role_before: user.role };
        await audit.record(tx, { ...entry, detail: { ...before, status: after.status, role: after.role } });
        if (after.expiresAt !== user.expiresAt) {
          const detail = { expires_at: after.expiresAt };
          await audit.record(tx, { ...entry, action: 'expiry-changed', detail });
        }
        await work(tx, after);
        return after;
      }),
    );
  }

  async function get(uid: string): Promise<UserDetails> {
    const user = await findUserDetails(db, uid);
    if (user === null) throw new AppError('not_found');
    return rules.standing(user, ground.now());
  }

  const revoke = (tx: Change, user: User) => signIn.revokeAll(tx, user.uid);

  /** The account is granted these datasets and no other; nothing happens without any. @throws AppError invalid_request */
  async function regrant(tx: Change, by: By, uid: string, datasets: Access['datasets']): Promise<void> {
    const at = now();
    const entry = { actor: by.uid, target: uid, origin: by.origin };
    if (datasets === undefined) return;
    for (const dataset of datasets) {
      if ((await findDataset(tx, dataset)) !== null) continue;
      throw new AppError('invalid_request', {
        message: {
          tr: `"${dataset}" kısıtlı bir veri kümesi değil.`,
          en: `"${dataset}" is not a restricted dataset.`,
        },
        field: 'datasets',
      });
    }
    const { given, taken } = await replaceGrants(tx, { uid, grantedBy: by.uid, now: at }, datasets);
    await answerDatasetRequests(
      tx,
      { uid, datasets },
      { answer: 'granted', reason: null, by: by.uid, now: at },
    );
    for (const dataset of given) {
      await audit.record(tx, { ...entry, action: 'dataset-granted', detail: { dataset } });
    }
    for (const dataset of taken) {
      await audit.record(tx, { ...entry, action: 'dataset-revoked', detail: { dataset } });
    }
  }

  return {
    async register({ email, password, displayName, affiliation, purpose }, origin) {
      const trying = { email, origin };
      await throttle.count('registration', trying);
      refuseGuessablePassword(password, { email, displayName }, 'password');
      const user = rules.register({ uid: randomUUID(), email, displayName: displayName ?? null }, now());
      // Hashed whether or not the address is known: both take as long.
      const passwordHash = await signIn.hashPassword(password);
      const existing = await change(db, 'accounts', async (tx) => {
        const known = await findUserByEmail(tx, email);
        await audit.record(tx, {
          action: 'registered',
          result: known === null ? 'done' : 'refused',
          actor: null,
          target: known?.uid ?? user.uid,
          origin,
        });
        if (known !== null) {
          if (config.registrationHideExisting) await post(tx, alreadyRegisteredLetter, known.email);
          return known;
        }
        await insertUser(tx, user);
        await signIn.signUp(tx, user.uid, passwordHash);
        if (affiliation !== undefined || purpose !== undefined) {
          const said = { affiliation: affiliation ?? null, purpose: purpose ?? null };
          await insertApplication(tx, { uid: user.uid, ...said });
        }
        return null;
      });
      mail.wake();
      if (existing === null) {
        await throttle.know(trying);
        waitingNotices.asked();
        return user;
      }
      if (!config.registrationHideExisting) throw new AppError('email_taken');
      return user;
    },

    async signIn({ email, password, code }, origin) {
      /** @throws AppError second_factor_required, second_factor_invalid */
      async function passSecondFactor(tx: Change, uid: string): Promise<string | null> {
        if (!(await secondFactor.isOn(tx, uid))) return null;
        if (code === undefined) throw new AppError('second_factor_required');
        return secondFactor.take(tx, uid, code);
      }

      const door = code === undefined ? 'password' : 'second-factor';
      try {
        return await throttle.guard(door, { email, origin }, (requireOpen) =>
          signIn.signIn(email, password, origin, async (tx, { uid }) => {
            const taken = await passSecondFactor(tx, uid);
            await requireOpen(tx);
            const detail = taken === null ? {} : { second_factor: taken };
            await audit.record(tx, { action: 'sign-in', actor: uid, target: uid, detail, origin });
          }),
        );
      } catch (error) {
        // What is throttled is on record as such, once for each block.
        if (error instanceof AppError && error.status < 500 && error.code !== 'rate_limited') {
          const target = (await findUserByEmail(db, email))?.uid ?? null;
          const detail = { code: error.code };
          await audit.note({ action: 'sign-in', result: 'refused', actor: null, target, detail, origin });
        }
        throw error;
      }
    },

    async signOut({ uid, tokenHash, origin }) {
      await change(db, 'accounts', async (tx) => {
        await signIn.signOut(tx, tokenHash);
        await audit.record(tx, { action: 'sign-out', actor: uid, target: uid, origin });
      });
      imageSessions.forget({ tokenHash });
    },

    async requestPasswordReset(email, origin) {
      await throttle.count('reset-request', { email, origin });
      background.run('a password reset', async () => {
        await change(db, 'accounts', async (tx) => {
          const started = await signIn.startReset(tx, email);
          await audit.record(tx, {
            action: 'password-reset-requested',
            result: started === null ? 'refused' : 'done',
            actor: null,
            target: started?.user.uid ?? null,
            origin,
          });
          if (started === null) return;
          const { code, user } = started;
          await post(tx, (words) => passwordResetLetter({ ...words, code }), user.email);
        });
        mail.wake();
      });
    },

    async confirmPasswordReset(code, newPassword, origin) {
      const found = await throttle.guard('password', { email: null, origin }, async () => {
        const owner = await signIn.ownerOfReset(code);
        if (owner === null) throw new AppError('reset_link_invalid');
        return owner;
      });
      refuseGuessablePassword(newPassword, found, 'new_password');
      const passwordHash = await signIn.hashPassword(newPassword);
      const user = await change(db, 'accounts', async (tx) => {
        const owner = await signIn.takeReset(tx, code);
        if (owner === null) throw new AppError('reset_link_invalid');
        await signIn.setPassword(tx, owner.uid, passwordHash);
        await signIn.revokeAll(tx, owner.uid);
        await updateUser(tx, { ...owner, updatedAt: now() });
        await audit.record(tx, { action: 'password-reset', actor: owner.uid, target: owner.uid, origin });
        await post(tx, passwordChangedLetter, owner.email);
        return owner;
      });
      imageSessions.forget({ uid: user.uid });
      mail.wake();
    },

    async changeOwnPassword(by, { current, next }) {
      const { uid, tokenHash, origin } = by;
      const entry = { action: 'password-changed', actor: uid, target: uid, origin } as const;
      await recorded(entry, async () => {
        await requireOwnPassword({ signIn, throttle }, by, current);
        const owner = await findUser(db, uid);
        if (owner !== null) refuseGuessablePassword(next, owner, 'new_password');
        const passwordHash = await signIn.hashPassword(next);
        return change(db, 'accounts', async (tx) => {
          const user = await callerNow(tx, signIn, by, 'account.password');
          await signIn.setPassword(tx, uid, passwordHash);
          await signIn.revokeAll(tx, uid, tokenHash);
          await updateUser(tx, { ...user, updatedAt: now() });
          await audit.record(tx, entry);
          await post(tx, passwordChangedLetter, user.email);
        });
      });
      imageSessions.forget({ uid, exceptTokenHash: tokenHash });
      mail.wake();
    },

    async deleteOwn(by, currentPassword) {
      const { uid, origin } = by;
      const entry = { action: 'account-deleted', actor: uid, target: uid, origin } as const;
      await recorded(entry, async () => {
        await requireOwnPassword({ signIn, throttle }, by, currentPassword);
        await change(db, 'accounts', async (tx) => {
          const user = await callerNow(tx, signIn, by, 'account.delete');
          rules.leave(user, await hasOtherActiveAdmin(tx, uid));
          await signIn.revokeAll(tx, uid);
          await deleteUser(tx, uid);
          await audit.record(tx, entry);
        });
      });
      imageSessions.forget({ uid });
    },

    list: async () => (await listUserDetails(db)).map((user) => rules.standing(user, ground.now())),

    get,

    // Revokes nothing: the account-status page that is open goes on to the dashboard.
    async approve(by, uid, { role, datasets, expiresAt }) {
      await administer(
        { by, uid, action: 'approved' },
        (target, { now }) => rules.endingAt(rules.approve(target, role, now), expiresAt, now),
        async (tx, user) => {
          await setDecisionReason(tx, uid, null);
          await regrant(tx, by, uid, datasets);
          const said = {
            role: roleInLetters[user.role],
            expiresAt: user.expiresAt === null ? null : longDate.format(new Date(user.expiresAt)),
          };
          await post(tx, (words) => approvedLetter({ ...words, ...said }), user.email);
        },
      );
      imageSessions.recheck({ uid });
      mail.wake();
    },

    // What was issued to an applicant opened nothing but the account-status page, where the reason now stands.
    async reject(by, uid, reason) {
      await administer(
        { by, uid, action: 'rejected' },
        (target, { now }) => rules.reject(target, now),
        async (tx, user) => {
          await setDecisionReason(tx, uid, reason);
          await post(tx, (words) => rejectedLetter({ ...words, reason }), user.email);
        },
      );
      mail.wake();
    },

    async changeAccess(by, uid, { datasets, expiresAt }) {
      await administer(
        { by, uid, action: 'access-changed' },
        (target, { now }) => rules.changeAccess(target, expiresAt, now),
        (tx) => regrant(tx, by, uid, datasets),
      );
      imageSessions.recheck({ uid });
    },

    async suspend(by, uid) {
      await administer({ by, uid, action: 'suspended' }, rules.suspend, revoke);
      imageSessions.forget({ uid });
    },

    async deactivate(by, uid) {
      // Whoever comes back later is let in anew, not into everything that was once open.
      await administer({ by, uid, action: 'deactivated' }, rules.deactivate, async (tx, target) => {
        await revoke(tx, target);
        await regrant(tx, by, uid, []);
      });
      imageSessions.forget({ uid });
    },

    async promote(by, uid) {
      await administer({ by, uid, action: 'promoted' }, (user, { now }) => rules.promote(user, now), revoke);
      imageSessions.forget({ uid });
    },

    async setPassword(by, uid, newPassword) {
      refuseGuessablePassword(newPassword, await get(uid), 'new_password'); // before the hashing, which is slow
      const passwordHash = await signIn.hashPassword(newPassword);
      await administer(
        { by, uid, action: 'password-set' },
        (target, { now }) => rules.replacePassword(target, now),
        async (tx, target) => {
          await signIn.setPassword(tx, target.uid, passwordHash);
          await signIn.revokeAll(tx, target.uid);
          await post(tx, passwordChangedLetter, target.email);
        },
      );
      imageSessions.forget({ uid });
      mail.wake();
    },
  };
}
