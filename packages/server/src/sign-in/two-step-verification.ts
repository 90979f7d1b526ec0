/** Switches two-step verification of an account on and off. Each change writes an audit event and sends an e-mail to the owner. */
import { AppError, type SecondFactor as SecondFactorState, type User } from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { secondFactorEmail } from '../mail/email-texts.ts';
import type { Mail } from '../mail/mail.ts';
import type { Recipients } from '../mail/recipients.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import { findUser } from '../store/users.ts';
import { requireOwnPassword } from './own-password.ts';
import type { SecondFactor } from './second-factor.ts';
import type { Throttle } from './throttle.ts';

export interface TwoStepVerification {
  stateOf(uid: string): Promise<SecondFactorState>;
  /**
   * Creates a secret for the authenticator app, and returns it alone and in an otpauth URI. The secret has no effect before `confirm`.
   *
   * @param currentPassword undefined when the sign-in is so recent that the API call needs no password; also in `remove`
   * @throws AppError second_factor_on, reauth_required, rate_limited, unavailable
   */
  start(actor: Actor, currentPassword: string | undefined): Promise<{ secret: string; uri: string }>;
  /**
   * Switches two-step verification on, and returns the recovery codes, which are shown only once.
   *
   * @param code current code that the app shows for the new secret
   * @throws AppError second_factor_on, second_factor_invalid, rate_limited
   */
  confirm(actor: Actor, code: string): Promise<string[]>;
  /** Switches two-step verification of the actor off. @throws AppError reauth_required, rate_limited, unavailable */
  remove(actor: Actor, currentPassword: string | undefined): Promise<void>;
  /** Switches two-step verification off for another user, who lost the app. @throws AppError not_found, self_change */
  reset(actor: Actor, uid: string): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly audit: AuditRecorder;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly actionLimiter: ActionLimiter;
  readonly secondFactor: SecondFactor;
  readonly recipients: Recipients;
}

export function createTwoStepVerification(dependencies: Dependencies): TwoStepVerification {
  const { db, audit, mail, signIn, throttle, actionLimiter, secondFactor, recipients } = dependencies;

  async function queueEmail(tx: DatabaseTransaction, user: User, state: 'on' | 'off'): Promise<void> {
    await mail.queue(tx, secondFactorEmail(await recipients.forAccount(tx, user), state === 'on'));
  }

  return {
    stateOf: secondFactor.stateOf,

    async start(actor, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, actor, currentPassword);
      return runLockedTransaction(db, 'accounts', async (tx) => {
        // The sign-in may have ended meanwhile. The permission `account.password` also covers the second factor.
        const { uid, email } = await recheckCaller(tx, signIn, actor, 'account.password');
        return secondFactor.start(tx, { uid, email });
      });
    },

    async confirm(actor, code) {
      const { uid, email, origin } = actor;
      const codes = await throttle.guard('second-factor', { email, origin }, (requireAllowed) =>
        runLockedTransaction(db, 'accounts', async (tx) => {
          const user = await recheckCaller(tx, signIn, actor, 'account.password');
          const recoveryCodes = await secondFactor.confirm(tx, uid, code);
          await requireAllowed(tx); // counts the right code; throws rate_limited when other attempts have reached a limit
          await actionLimiter.requireAllowed(tx, 'second-factor-on', { uid, origin }); // throws rate_limited after too many changes
          await audit.record(tx, { action: 'second-factor-on', actor: uid, target: uid, origin });
          await queueEmail(tx, user, 'on');
          return recoveryCodes;
        }),
      );
      mail.wake();
      return codes;
    },

    async remove(actor, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, actor, currentPassword);
      const { uid, origin } = actor;
      await runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'account.password');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid); // also deletes a secret that was not confirmed, which is not a change to report
        if (!wasOn) return;
        await audit.record(tx, { action: 'second-factor-off', actor: uid, target: uid, origin });
        await queueEmail(tx, user, 'off');
      });
      mail.wake();
    },

    async reset(actor, uid) {
      const { origin } = actor;
      const event = { action: 'second-factor-reset', actor: actor.uid, target: uid, origin } as const;
      // Administrators must use `remove` for their own account, which requires a recent sign-in or the current password.
      if (uid === actor.uid) {
        await audit.recordSeparately({ ...event, result: 'refused', detail: { code: 'self_change' } });
        throw new AppError('self_change');
      }
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await recheckCaller(tx, signIn, actor, 'users.manage');
        const user = await findUser(tx, uid);
        if (user === null) throw new AppError('not_found');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid);
        if (!wasOn) return;
        await audit.record(tx, event);
        await queueEmail(tx, user, 'off');
      });
      mail.wake();
    },
  };
}
