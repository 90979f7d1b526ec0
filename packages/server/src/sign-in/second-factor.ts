/**
 * Two-step verification: one-time codes of an authenticator app (TOTP, RFC 6238: SHA-1, 30 seconds, six digits, as
 * all apps support them) and recovery codes for a person who lost the app.
 */
import { randomInt } from 'node:crypto';
import { AppError, type SecondFactor as SecondFactorState } from '@lamina/contract';
import { Secret, TOTP } from 'otpauth';
import type { Logger } from 'pino';
import type { Encryption } from '../platform/encryption.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { Change, Connection, Database } from '../store/database.ts';
import type { Row } from '../store/schema.ts';
import {
  consumeRecoveryCode,
  countRecoveryCodes,
  deleteSecondFactor,
  findSecondFactor,
  insertRecoveryCodes,
  replaceSecondFactor,
  updateSecondFactor,
} from '../store/second-factors.ts';

export interface SecondFactor {
  stateOf(uid: string): Promise<SecondFactorState>;
  /** Returns whether sign-in to the account requires a code. */
  isOn(connection: Connection, uid: string): Promise<boolean>;
  /** Creates a secret that sign-in does not require yet. @throws AppError second_factor_on */
  start(tx: Change, account: { uid: string; email: string }): Promise<{ secret: string; uri: string }>;
  /** Makes sign-in require codes, and returns the recovery codes. @throws AppError second_factor_on, second_factor_invalid */
  confirm(tx: Change, uid: string, code: string): Promise<string[]>;
  /** Consumes a code of the app or a recovery code. @throws AppError second_factor_invalid */
  take(tx: Change, uid: string, code: string): Promise<'app' | 'recovery-code'>;
  /** Switches two-step verification off. Returns false when it was already off. */
  remove(tx: Change, uid: string): Promise<boolean>;
}

interface SecondFactorDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly encryption: Encryption;
  readonly productName: string;
}

const algorithm = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Accepted steps before and after the current one: clocks differ, and typing takes time (RFC 6238 section 5.2). */
const window = 1;
/** 160 bits, as RFC 4226 section 4 R6 recommends; it requires at least 128. */
const secretBytes = 20;
const recoveryCodes = 10;
/** Alphabet without characters that look alike: 0 and o; 1, i and l. */
const recoveryAlphabet = '23456789abcdefghjkmnpqrstuvwxyz';

export function createSecondFactor({
  db,
  now,
  log,
  encryption,
  productName,
}: SecondFactorDependencies): SecondFactor {
  const purpose = (uid: string) => `second factor of ${uid}`;

  /** Returns the step that the code belongs to; null when the code is not valid now or has been used. */
  function stepOf(row: Row<'second_factors'>, code: string): number | null {
    if (!/^\d{6}$/.test(code)) return null;
    let secret: Secret;
    try {
      secret = Secret.fromBase32(encryption.decrypt(row.secret, purpose(row.uid)));
    } catch (error) {
      // The account is not lost: recovery codes still work, and an administrator can switch two-step verification off.
      log.error(
        { err: error, uid: row.uid },
        'secret of a second factor could not be decrypted; check whether SECRET_KEY has changed',
      );
      return null;
    }
    const timestamp = now().getTime();
    const delta = new TOTP({ ...algorithm, secret }).validate({ token: code, timestamp, window });
    if (delta === null) return null;
    const step = Math.floor(timestamp / 1000 / algorithm.period) + delta;
    return step > row.last_step ? step : null;
  }

  return {
    async stateOf(uid) {
      const row = await findSecondFactor(db, uid);
      const enabled = row?.confirmed_at != null;
      return { enabled, recovery_codes_left: enabled ? await countRecoveryCodes(db, uid) : 0 };
    },

    async isOn(connection, uid) {
      return (await findSecondFactor(connection, uid))?.confirmed_at != null;
    },

    async start(tx, { uid, email }) {
      if ((await findSecondFactor(tx, uid))?.confirmed_at != null) throw new AppError('second_factor_on');
      const secret = new Secret({ size: secretBytes });
      await replaceSecondFactor(tx, {
        uid,
        secret: encryption.encrypt(secret.base32, purpose(uid)),
        created_at: now().toISOString(),
        confirmed_at: null,
        last_step: 0,
      });
      const totp = new TOTP({ ...algorithm, secret, issuer: productName, label: email });
      return { secret: secret.base32, uri: totp.toString() };
    },

    async confirm(tx, uid, code) {
      const row = await findSecondFactor(tx, uid);
      if (row?.confirmed_at != null) throw new AppError('second_factor_on');
      const step = row === null ? null : stepOf(row, code);
      if (step === null) throw new AppError('second_factor_invalid');
      await updateSecondFactor(tx, uid, { confirmed_at: now().toISOString(), last_step: step });
      const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
      await insertRecoveryCodes(
        tx,
        uid,
        codes.map((each) => recoveryHash(uid, each)),
      );
      return codes;
    },

    async take(tx, uid, code) {
      const row = await findSecondFactor(tx, uid);
      const step = row === null ? null : stepOf(row, code);
      if (step !== null) {
        await updateSecondFactor(tx, uid, { last_step: step });
        return 'app';
      }
      if (await consumeRecoveryCode(tx, uid, recoveryHash(uid, code))) return 'recovery-code';
      throw new AppError('second_factor_invalid');
    },

    remove: deleteSecondFactor,
  };
}

/** Returns a code of 79 random bits, in groups that a person can copy by hand. */
function newRecoveryCode(): string {
  const characters = Array.from({ length: 16 }, () => recoveryAlphabet[randomInt(recoveryAlphabet.length)]);
  return characters.join('').replaceAll(/(.{4})(?!$)/g, '$1-');
}

function recoveryHash(uid: string, code: string): string {
  return hashSecret(`${uid} ${code.replaceAll('-', '')}`);
}
