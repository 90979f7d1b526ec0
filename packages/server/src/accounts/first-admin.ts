/**
 * Creates the first administrator at the first start of the server, and restores an administrator for the command
 * `restore-admin`. No HTTP endpoint calls these functions.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { effectiveAccount, makeAdmin, register } from '../domain/account.ts';
import type { Config } from '../platform/config.ts';
import { newSecret } from '../platform/secrets.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { guessableReason } from '../sign-in/password-rules.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { deleteSecondFactor } from '../store/second-factors.ts';
import { endShareLinksOf } from '../store/share-links.ts';
import { findUserByEmail, hasUsers, insertUser, updateUser } from '../store/users.ts';

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly signIn: SignInService;
  readonly audit: AuditRecorder;
}

export const defaultAdminEmail = 'admin@lamina.local';

export interface FirstAdmin {
  readonly email: string;
  /** The generated password, which the server shows once; null when ADMIN_PASSWORD is set. */
  readonly password: string | null;
  /** Path of a file, readable only by its owner, with the generated password; null when ADMIN_PASSWORD is set. */
  readonly passwordFile: string | null;
}

/** Creates the first administrator. Returns null when an account exists. @throws Error when ADMIN_PASSWORD is easy to guess */
export async function ensureFirstAdmin({
  config,
  db,
  now,
  signIn,
  audit,
}: Dependencies & { readonly config: Config }): Promise<FirstAdmin | null> {
  if (await hasUsers(db)) return null;
  const email = config.adminEmail ?? defaultAdminEmail;
  const password = config.adminPassword ?? generatePassword();
  if (guessableReason(password, { email }) !== null) {
    throw new Error(
      'ADMIN_PASSWORD is one of the most common passwords, or equals the e-mail address: choose another one.',
    );
  }
  const passwordFile = config.adminPassword === null ? firstAdminFile(config.dataDir) : null;
  const passwordHash = await signIn.hashPassword(password, null); // null: the server itself requests the hash

  const isCreated = await runLockedTransaction(db, 'accounts', async (tx) => {
    if (await hasUsers(tx)) return false;
    // The file is written before the account is created, so that no account exists whose password could not be stored.
    // It is written under the lock, because another process that starts with the same data folder would overwrite it.
    if (passwordFile !== null) await writePassword(passwordFile, email, password);
    const createdAt = now().toISOString();
    const admin = makeAdmin(register({ uid: randomUUID(), email, displayName: null }, createdAt), createdAt);
    await insertUser(tx, admin);
    await signIn.signUp(tx, admin.uid, passwordHash);
    // `origin` is null, because no HTTP request causes this event.
    await audit.record(tx, { action: 'first-admin-made', actor: null, target: admin.uid, origin: null });
    return true;
  });
  return isCreated ? { email, password: passwordFile === null ? null : password, passwordFile } : null;
}

/** Returns the path of the file in which the server stores the password that it generates for the first administrator. */
export function firstAdminFile(dataDir: string): string {
  return path.join(dataDir, 'first-admin.txt');
}

/**
 * Makes the account with an e-mail address an active administrator with a new password, without a second factor, and revokes its
 * tokens. Creates the account if there is none.
 */
export async function restoreAdmin(
  { db, now, signIn, audit }: Dependencies,
  email: string,
): Promise<{ readonly email: string; readonly password: string; readonly isNew: boolean }> {
  const password = generatePassword();
  const passwordHash = await signIn.hashPassword(password, null); // null: the server itself requests the hash
  return runLockedTransaction(db, 'accounts', async (tx) => {
    const restoredAt = now().toISOString();
    const existing = await findUserByEmail(tx, email);
    const before = existing ?? register({ uid: randomUUID(), email, displayName: null }, restoredAt);
    const admin = makeAdmin(before, restoredAt);
    if (existing === null) {
      await insertUser(tx, admin);
      await signIn.signUp(tx, admin.uid, passwordHash);
    } else {
      await updateUser(tx, admin);
      if (await signIn.hasPassword(tx, admin.uid)) await signIn.setPassword(tx, admin.uid, passwordHash);
      else await signIn.signUp(tx, admin.uid, passwordHash); // until now the account had no password on this server
      await signIn.revokeAll(tx, admin.uid);
      await deleteSecondFactor(tx, admin.uid); // the person may have lost it, and no other administrator can remove it
      // The share links of an expired account do not open. If they were not ended, they would open again now.
      const hadExpired = effectiveAccount(before, now()) !== before; // an account that has not expired is returned as the same object
      if (hadExpired) await endShareLinksOf(tx, admin.uid, restoredAt);
    }
    await audit.record(tx, {
      action: 'admin-restored',
      actor: null,
      target: admin.uid,
      detail: { status_before: before.status, role_before: before.role },
      origin: null,
    });
    return { email: admin.email, password, isNew: existing === null };
  });
}

/** Returns a random password of 20 letters and digits (about 119 bits), in groups of five that a user can copy by hand. */
function generatePassword(): string {
  const characters = newSecret().replaceAll(/[-_]/g, '').slice(0, 20);
  return characters.match(/.{5}/g)?.join('-') ?? characters;
}

/** Writes e-mail address and password to a file that only its owner can read. */
async function writePassword(file: string, email: string, password: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await fs.rm(file, { force: true }); // overwriting would keep the permissions of an older file
  await fs.writeFile(file, `${email}\n${password}\n`, { mode: 0o600, flag: 'wx' });
}
