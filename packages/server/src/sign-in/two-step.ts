/** Switching two-step verification on and off: each change with its audit entry, and a letter to the owner. */
import { AppError, type SecondFactor as SecondFactorState, type User } from '@lamina/contract';
import type { By } from '../accounts.ts';
import type { Audit } from '../audit.ts';
import { callerNow } from '../caller-now.ts';
import type { Config } from '../config.ts';
import type { Mail } from '../mail/mail.ts';
import { secondFactorLetter } from '../mail/texts.ts';
import { type Change, change, type Database } from '../store/database.ts';
import { findUser } from '../store/users.ts';
import { requireOwnPassword } from './own-password.ts';
import type { SecondFactor } from './second-factor.ts';
import type { SignInService } from './sign-in-service.ts';
import type { Throttle } from './throttle.ts';

export interface TwoStep {
  stateOf(uid: string): Promise<SecondFactorState>;
  /** @throws AppError second_factor_on, reauth_required, rate_limited, unavailable */
  start(by: By, currentPassword: string | undefined): Promise<{ secret: string; uri: string }>;
  /** @returns the recovery codes, this once @throws AppError second_factor_on, second_factor_invalid, rate_limited */
  confirm(by: By, code: string): Promise<string[]>;
  /** Nothing happens where it is off. @throws AppError reauth_required, rate_limited, unavailable */
  remove(by: By, currentPassword: string | undefined): Promise<void>;
  /** An administrator's help for somebody who can no longer sign in; nothing happens where it is off. @throws AppError not_found, self_change */
  reset(by: By, uid: string): Promise<void>;
}

interface Ground {
  readonly config: Pick<Config, 'productName'>;
  readonly db: Database;
  readonly audit: Audit;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly secondFactor: SecondFactor;
  readonly publicUrl: () => string;
}

export function createTwoStep(ground: Ground): TwoStep {
  const { config, db, audit, mail, signIn, throttle, secondFactor } = ground;

  async function tell(tx: Change, { email }: User, isOn: boolean): Promise<void> {
    const words = { to: email, productName: config.productName, publicUrl: ground.publicUrl() };
    await mail.queue(tx, secondFactorLetter({ ...words, isOn }));
  }

  return {
    stateOf: secondFactor.stateOf,

    async start(by, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, by, currentPassword);
      return change(db, 'accounts', async (tx) => {
        const { uid, email } = await callerNow(tx, signIn, by, 'account.password');
        return secondFactor.start(tx, { uid, email });
      });
    },

    async confirm(by, code) {
      const { uid, email, origin } = by;
      const codes = await throttle.guard('second-factor', { email, origin }, (requireOpen) =>
        change(db, 'accounts', async (tx) => {
          const user = await callerNow(tx, signIn, by, 'account.password');
          const made = await secondFactor.confirm(tx, uid, code);
          await requireOpen(tx);
          await audit.record(tx, { action: 'second-factor-on', actor: uid, target: uid, origin });
          await tell(tx, user, true);
          return made;
        }),
      );
      mail.wake();
      return codes;
    },

    async remove(by, currentPassword) {
      await requireOwnPassword({ signIn, throttle }, by, currentPassword);
      const { uid, origin } = by;
      await change(db, 'accounts', async (tx) => {
        const user = await callerNow(tx, signIn, by, 'account.password');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid);
        if (!wasOn) return;
        await audit.record(tx, { action: 'second-factor-off', actor: uid, target: uid, origin });
        await tell(tx, user, false);
      });
      mail.wake();
    },

    async reset(by, uid) {
      if (uid === by.uid) throw new AppError('self_change'); // the own one needs the own password
      await change(db, 'accounts', async (tx) => {
        await callerNow(tx, signIn, by, 'users.manage');
        const user = await findUser(tx, uid);
        if (user === null) throw new AppError('not_found');
        const wasOn = await secondFactor.isOn(tx, uid);
        await secondFactor.remove(tx, uid);
        if (!wasOn) return;
        const entry = { actor: by.uid, target: uid, origin: by.origin };
        await audit.record(tx, { action: 'second-factor-reset', ...entry });
        await tell(tx, user, false);
      });
      mail.wake();
    },
  };
}
