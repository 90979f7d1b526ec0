/**
 * Everything that happens to accounts. Each change is one transaction: the state check, the new state,
 * what it revokes and the audit record succeed or fail together. What was held in memory of an account
 * is dropped after the commit and before the call returns.
 */
import { randomUUID } from 'node:crypto';
import { AppError, type GrantableRole, may, type Permission, type User } from '@lamina/contract';
import type { Audit, AuditAction, AuditEntry, Origin } from './audit.ts';
import type { Background } from './background.ts';
import type { Config } from './config.ts';
import * as rules from './domain/account.ts';
import type { ImageSessions } from './image-sessions.ts';
import type { Letter, Mail } from './mail/mail.ts';
import { alreadyRegisteredLetter, passwordChangedLetter, passwordResetLetter } from './mail/texts.ts';
import type { IssuedToken, SignInService } from './sign-in/sign-in-service.ts';
import { type Change, change, type Database } from './store/database.ts';
import {
  deleteUser,
  findUser,
  findUserByEmail,
  hasOtherActiveAdmin,
  insertUser,
  listUsers,
  updateUser,
} from './store/users.ts';

/** Who is behind a call, and where it came from. */
export interface By {
  readonly uid: string;
  /** The sign-in that makes the call. */
  readonly tokenHash: string;
  readonly origin: Origin;
}

export interface Accounts {
  /** @throws AppError email_taken, unless existing addresses are hidden; unavailable */
  register(person: NewPerson, origin: Origin): Promise<User>;
  /** @throws AppError credentials_invalid, account_not_active, unavailable */
  signIn(email: string, password: string, origin: Origin): Promise<IssuedToken>;
  signOut(by: By): Promise<void>;
  /** Returns at once; what it does, or does not do, is not to be told from outside. */
  requestPasswordReset(email: string, origin: Origin): void;
  /** @throws AppError reset_link_invalid, unavailable */
  confirmPasswordReset(code: string, newPassword: string, origin: Origin): Promise<void>;
  /** Every other sign-in of the account ends. @throws AppError reauth_required, unavailable */
  changeOwnPassword(by: By, passwords: { current?: string | undefined; next: string }): Promise<void>;
  /** Erases the person; the uid alone stays, in the audit trail. @throws AppError reauth_required, last_admin */
  deleteOwn(by: By, currentPassword: string | undefined): Promise<void>;

  /** Newest first. */
  list(): Promise<User[]>;
  /** @throws AppError not_found */
  get(uid: string): Promise<User>;
  /** @throws AppError not_found, already_active */
  approve(by: By, uid: string, role: GrantableRole | undefined): Promise<void>;
  /** @throws AppError not_found, closed, self_change, last_admin */
  suspend(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, self_change, last_admin */
  deactivate(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, not_active */
  promote(by: By, uid: string): Promise<void>;
  /** @throws AppError not_found, closed, unavailable */
  setPassword(by: By, uid: string, newPassword: string): Promise<void>;
}

interface NewPerson {
  readonly email: string;
  readonly password: string;
  readonly displayName?: string | undefined;
}

export interface AccountsGround {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly mail: Mail;
  readonly background: Background;
  readonly signIn: SignInService;
  readonly imageSessions: Pick<ImageSessions, 'forget'>;
  /** Where the web app is reached: what letters link to. */
  readonly publicUrl: () => string;
}

export function createAccounts(ground: AccountsGround): Accounts {
  const { config, db, audit, mail, background, signIn, imageSessions } = ground;
  const now = () => ground.now().toISOString();

  function send(letter: (words: Parameters<typeof passwordChangedLetter>[0]) => Letter, to: string): void {
    mail.send(letter({ to, productName: config.productName, publicUrl: ground.publicUrl() }));
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
   * The caller as it is inside the change: the call was let in a moment ago, and hashing takes its time.
   * A sign-in that has ended since does nothing more.
   */
  async function callerNow(tx: Change, { uid, tokenHash }: By, permission: Permission): Promise<User> {
    const user = await findUser(tx, uid);
    if (user === null || !(await signIn.isSignedIn(tx, tokenHash))) throw new AppError('token_invalid');
    if (!may(user, permission)) throw new AppError('forbidden');
    return user;
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
    work: (tx: Change, user: User) => Promise<void> = async () => undefined,
  ): Promise<User> {
    const entry = { action, actor: by.uid, target: uid, origin: by.origin };
    return recorded(entry, () =>
      change(db, 'accounts', async (tx) => {
        const user = await findUser(tx, uid);
        if (user === null) throw new AppError('not_found');
        const otherActiveAdmin = await hasOtherActiveAdmin(tx, uid);
        const after = rule(user, { by: by.uid, otherActiveAdmin, now: now() });
        await callerNow(tx, by, 'users.manage');
        if (after === user) return user;
        await updateUser(tx, after);
        await work(tx, after);
        const before = { status_before: user.status, role_before: user.role };
        await audit.record(tx, { ...entry, detail: { ...before, status: after.status, role: after.role } });
        return after;
      }),
    );
  }

  /** @throws AppError reauth_required, when a password came along and is not the account's */
  async function requireOwnPassword(uid: string, password: string | undefined): Promise<void> {
    if (password === undefined || (await signIn.isPassword(uid, password))) return;
    throw new AppError('reauth_required', { message: 'Mevcut şifreniz hatalı.' });
  }

  async function get(uid: string): Promise<User> {
    const user = await findUser(db, uid);
    if (user === null) throw new AppError('not_found');
    return user;
  }

  const revoke = (tx: Change, user: User) => signIn.revokeAll(tx, user.uid);

  return {
    async register({ email, password, displayName }, origin) {
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
        if (known !== null) return known;
        await insertUser(tx, user);
        await signIn.signUp(tx, user.uid, passwordHash);
        return null;
      });
      if (existing === null) return user;
      if (!config.registrationHideExisting) throw new AppError('email_taken');
      send(alreadyRegisteredLetter, existing.email);
      return user;
    },

    async signIn(email, password, origin) {
      try {
        return await signIn.signIn(email, password, (tx, { uid }) =>
          audit.record(tx, { action: 'sign-in', actor: uid, target: uid, origin }),
        );
      } catch (error) {
        if (error instanceof AppError && error.status < 500) {
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

    requestPasswordReset(email, origin) {
      background.run('a password reset', async () => {
        const reset = await change(db, 'accounts', async (tx) => {
          const started = await signIn.startReset(tx, email);
          await audit.record(tx, {
            action: 'password-reset-requested',
            result: started === null ? 'refused' : 'done',
            actor: null,
            target: started?.user.uid ?? null,
            origin,
          });
          return started;
        });
        if (reset === null) return;
        send((words) => passwordResetLetter({ ...words, code: reset.code }), reset.user.email);
      });
    },

    async confirmPasswordReset(code, newPassword, origin) {
      if (!(await signIn.isReset(code))) throw new AppError('reset_link_invalid');
      const passwordHash = await signIn.hashPassword(newPassword);
      const user = await change(db, 'accounts', async (tx) => {
        const owner = await signIn.takeReset(tx, code);
        if (owner === null) throw new AppError('reset_link_invalid');
        await signIn.setPassword(tx, owner.uid, passwordHash);
        await signIn.revokeAll(tx, owner.uid);
        await updateUser(tx, { ...owner, updatedAt: now() });
        await audit.record(tx, { action: 'password-reset', actor: owner.uid, target: owner.uid, origin });
        return owner;
      });
      imageSessions.forget({ uid: user.uid });
      send(passwordChangedLetter, user.email);
    },

    async changeOwnPassword(by, { current, next }) {
      const { uid, tokenHash, origin } = by;
      const entry = { action: 'password-changed', actor: uid, target: uid, origin } as const;
      const email = await recorded(entry, async () => {
        await requireOwnPassword(uid, current);
        const passwordHash = await signIn.hashPassword(next);
        return change(db, 'accounts', async (tx) => {
          const user = await callerNow(tx, by, 'account.password');
          await signIn.setPassword(tx, uid, passwordHash);
          await signIn.revokeAll(tx, uid, tokenHash);
          await updateUser(tx, { ...user, updatedAt: now() });
          await audit.record(tx, entry);
          return user.email;
        });
      });
      imageSessions.forget({ uid, exceptTokenHash: tokenHash });
      send(passwordChangedLetter, email);
    },

    async deleteOwn(by, currentPassword) {
      const { uid, origin } = by;
      const entry = { action: 'account-deleted', actor: uid, target: uid, origin } as const;
      await recorded(entry, async () => {
        await requireOwnPassword(uid, currentPassword);
        await change(db, 'accounts', async (tx) => {
          const user = await callerNow(tx, by, 'account.delete');
          rules.leave(user, await hasOtherActiveAdmin(tx, uid));
          await signIn.revokeAll(tx, uid);
          await deleteUser(tx, uid);
          await audit.record(tx, entry);
        });
      });
      imageSessions.forget({ uid });
    },

    list: () => listUsers(db),

    get,

    // Revokes nothing: the account-status page that is open goes on to the dashboard.
    async approve(by, uid, role) {
      await administer({ by, uid, action: 'approved' }, (user, { now }) => rules.approve(user, role, now));
    },

    async suspend(by, uid) {
      await administer({ by, uid, action: 'suspended' }, rules.suspend, revoke);
      imageSessions.forget({ uid });
    },

    async deactivate(by, uid) {
      await administer({ by, uid, action: 'deactivated' }, rules.deactivate, revoke);
      imageSessions.forget({ uid });
    },

    async promote(by, uid) {
      await administer({ by, uid, action: 'promoted' }, (user, { now }) => rules.promote(user, now), revoke);
      imageSessions.forget({ uid });
    },

    async setPassword(by, uid, newPassword) {
      await get(uid); // before the hashing, which is slow
      const passwordHash = await signIn.hashPassword(newPassword);
      const user = await administer(
        { by, uid, action: 'password-set' },
        (target, { now }) => rules.replacePassword(target, now),
        async (tx, target) => {
          await signIn.setPassword(tx, target.uid, passwordHash);
          await signIn.revokeAll(tx, target.uid);
        },
      );
      imageSessions.forget({ uid });
      send(passwordChangedLetter, user.email);
    },
  };
}
