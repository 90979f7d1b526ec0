/**
 * Two-step verification: one-time codes of an authenticator app (TOTP, RFC 6238), and recovery codes for a user who has lost the app.
 * Codes have the parameters that all apps support: SHA-1, six digits, and a new code every 30 seconds.
 */
import { randomInt } from 'node:crypto';
import { AppError, type SecondFactor as SecondFactorState } from '@lamina/contract';
import { Secret, TOTP } from 'otpauth';
import type { Logger } from 'pino';
import type { Encryption } from '../platform/encryption.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { Connection, Database, DatabaseTransaction } from '../store/database.ts';
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
  isOn(connection: Connection, uid: string): Promise<boolean>;
  /** Creates a secret (base32, also as otpauth URI). Sign-in requires codes only after `confirm`. @throws AppError second_factor_on */
  start(
    tx: DatabaseTransaction,
    account: { uid: string; email: string },
  ): Promise<{ secret: string; uri: string }>;
  /** Makes sign-in require codes. Returns the recovery codes. @throws AppError second_factor_on; second_factor_invalid, also before `start` */
  confirm(tx: DatabaseTransaction, uid: string, code: string): Promise<string[]>;
  /** Consumes a code of the app or a recovery code of an account for which `isOn` is true. @throws AppError second_factor_invalid */
  consumeCode(tx: DatabaseTransaction, uid: string, code: string): Promise<'app' | 'recovery-code'>;
  /** Switches two-step verification off, and deletes the secret, even an unconfirmed one. Returns false when there was no secret. */
  remove(tx: DatabaseTransaction, uid: string): Promise<boolean>;
}

interface SecondFactorDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly encryption: Encryption;
  readonly productName: string;
}

const totpParameters = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/**
 * Number of steps (periods of 30 s) before and after the current one whose codes are accepted, because clocks differ and typing takes
 * time (RFC 6238 section 5.2).
 */
const window = 1;
/** RFC 4226 (section 4, R6) recommends secrets of 160 bits, and requires at least 128 bits. */
const secretBytes = 20;
const recoveryCodeCount = 10;
/** Alphabet without 0 and o, and without 1, i and l, because they look alike. */
const recoveryAlphabet = '23456789abcdefghjkmnpqrstuvwxyz';

export function createSecondFactor({
  db,
  now,
  log,
  encryption,
  productName,
}: SecondFactorDependencies): SecondFactor {
  /**
   * Purpose of the encryption, which decryption requires, too. It names the account, so a secret copied to another account cannot
   * be decrypted.
   */
  const purpose = (uid: string) => `second factor of ${uid}`;

  /** Returns the step (30 s period, counted from 1970) that the code belongs to; null when the code is invalid or was used before. */
  function stepOf(row: Row<'second_factors'>, code: string): number | null {
    if (!/^\d{6}$/.test(code)) return null;
    let secret: Secret;
    try {
      secret = Secret.fromBase32(encryption.decrypt(row.secret, purpose(row.uid)));
    } catch (error) {
      // The account is not lost: recovery codes still work, and an administrator can switch two-step verification off.
      log.error(
        { err: error, uid: row.uid },
        'second-factor secret of an account could not be decrypted, so its codes are rejected; check whether SECRET_KEY has changed',
      );
      return null;
    }
    const timestamp = now().getTime();
    const delta = new TOTP({ ...totpParameters, secret }).validate({ token: code, timestamp, window });
    if (delta === null) return null;
    const step = Math.floor(timestamp / 1000 / totpParameters.period) + delta;
    return step > row.last_step ? step : null; // rejects the last used code and all codes of earlier steps
  }

  return {
    async stateOf(uid) {
      const row = await findSecondFactor(db, uid);
      const enabled = row?.confirmed_at != null; // the user has entered a first code (`!=` also excludes undefined)
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
        last_step: 0, // no code has been used
      });
      const totp = new TOTP({ ...totpParameters, secret, issuer: productName, label: email });
      return { secret: secret.base32, uri: totp.toString() };
    },

    async confirm(tx, uid, code) {
      const row = await findSecondFactor(tx, uid);
      if (row?.confirmed_at != null) throw new AppError('second_factor_on');
      const step = row === null ? null : stepOf(row, code);
      if (step === null) throw new AppError('second_factor_invalid');
      await updateSecondFactor(tx, uid, { confirmed_at: now().toISOString(), last_step: step });
      const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
      await insertRecoveryCodes(
        tx,
        uid,
        codes.map((recoveryCode) => recoveryHash(uid, recoveryCode)),
      );
      return codes;
    },

    async consumeCode(tx, uid, code) {
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

/** Returns a recovery code: 16 characters (79 random bits) in groups of four, separated by hyphens. */
function newRecoveryCode(): string {
  const characters = Array.from({ length: 16 }, () => recoveryAlphabet[randomInt(recoveryAlphabet.length)]);
  return characters.join('').replaceAll(/(.{4})(?!$)/g, '$1-');
}

/** Hashes a recovery code together with the account, so that it cannot be used for another account. */
function recoveryHash(uid: string, code: string): string {
  return hashSecret(`${uid} ${code.replaceAll('-', '')}`);
}
