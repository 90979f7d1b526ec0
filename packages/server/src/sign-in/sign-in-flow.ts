/** Switches two-step verification on and off. Each change writes an audit event and e-mails the owner. */
import { AppError, type SecondFactor as SecondFactorState, type User } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import type { LimitActions } from '../audit/limit-actions.ts';
import { secondFactorEmail } from '../mail/email-texts.ts';
import type { Mail } from '../mail/mail.ts';
import type { Recipients } from '../mail/recipients.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { type Change, type Database, runLockedTransaction } from '../store/database.ts';
import { findUser } from '../store/users.ts';
import { requireOwnPassword } from './own-password.ts';
import type { SecondFactor } from './second-factor.ts';
import type { Throttle } from './throttle.ts';

export interface SignInFlow {
  stateOf(uid: string): Promise<SecondFactorState>;
  /** @throws AppError second_factor_on, reauth_required, rate_limited, unavailable */
  start(by: Actor, currentPassword: string | undefined): Promise<{ secret: string; uri: string }>;
  /** Returns the recovery codes, which are shown only once. @throws AppError second_factor_on, second_factor_invalid, rate_limited */
  confirm(by: Actor, code: string): Promise<string[]>;
  /** Does nothing when it is off. @throws AppError reauth_required, rate_limited, unavailable */
  remove(by: Actor, currentPassword: string | undefined): Promise<void>;
  /** Switches it off for a person who can no longer sign in; does nothing when it is off. @throws AppError not_found, self_change */
  reset(by: Actor, uid: string): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly audit: AuditRecorder;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly limitActions: LimitActions;
  readonly secondFactor: SecondFactor;
  readonly recipients: Recipients;
}

export function createSignInFlow(dependencies: Dependencies): SignInFlow {
  const { db, audit, mail, signIn, throttle, limitActions, secondFactor, recipients } = dependencies;

  async function queueEmail(tx: Change, user: User, isOn: boolean): Promise<void> {
    await mail.queue(tx, secondFactorEmail(await recipients.of(tx, user), isOn));
  }

  return {
    stateOf: secondFactor.stateOf,

    async start(by, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, by, currentPassword);
      return runLockedTransaction(db, 'accounts', async (tx) => {
        const { uid, email } = await recheckCaller(tx, signIn, by, 'account.password');
        return secondFactor.start(tx, { uid, email });
      });
    },

    async confirm(by, code) {
      const { uid, email, origin } = by;
      const codes = await throttle.guard('second-factor', { email, origin }, (requireOpen) =>
        runLockedTransaction(db, 'accounts', async (tx) => {
          const user = await recheckCaller(tx, signIn, by, 'account.password');
          const made = await secondFactor.confirm(tx, uid, code);
          await requireOpen(tx);
          await limitActions.require(tx, 'second-factor-on', { uid, origin });
          await audit.record(tx, { action: 'second-factor-on', actor: uid, target: uid, origin });
          await queueEmail(tx, user, true);
          return made;
        }),
      );
      mail.wake();
      return codes;
    },

    async remove(by, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, by, currentPassword);
      const { uid, origin } = by;
      await runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, by, 'account.password');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid);
        if (!wasOn) return;
        await audit.record(tx, { action: 'second-factor-off', actor: uid, target: uid, origin });
        await queueEmail(tx, user, false);
      });
      mail.wake();
    },

    async reset(by, uid) {
      const entry = { action: 'second-factor-reset', actor: by.uid, target: uid, origin: by.origin } as const;
      // Administrators must use `remove` for their own account, which requires a recent sign-in or the current password.
      if (uid === by.uid) {
        await audit.recordSeparately({ ...entry, result: 'refused', detail: { code: 'self_change' } });
        throw new AppError('self_change');
      }
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await recheckCaller(tx, signIn, by, 'users.manage');
        const user = await findUser(tx, uid);
        if (user === null) throw new AppError('not_found');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid);
        if (!wasOn) return;
        await audit.record(tx, entry);
        await queueEmail(tx, user, false);
      });
      mail.wake();
    },
  };
}
