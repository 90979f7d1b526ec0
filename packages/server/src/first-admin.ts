/** The administrator that the server itself makes: nobody could approve anybody otherwise. Never over HTTP. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { makeAdmin, register } from './domain/account.ts';
import { newSecret } from './secrets.ts';
import type { Services } from './services.ts';
import { whyGuessable } from './sign-in/password-rules.ts';
import { change } from './store/database.ts';
import { findUserByEmail, hasUsers, insertUser, updateUser } from './store/users.ts';

type Ground = Pick<Services, 'db' | 'now' | 'signIn' | 'audit'>;

export const defaultAdminEmail = 'admin@lamina.local';

export interface FirstAdmin {
  readonly email: string;
  /** To be shown once; null when the settings gave it. */
  readonly password: string | null;
  /** Where it is kept too, for the owner of the folder alone; null when the settings gave it. */
  readonly passwordFile: string | null;
}

/**
 * Makes the first administrator at the very first start; null when there are accounts already.
 *
 * @throws Error with one clear sentence about a password of the settings that anybody would guess
 */
export async function ensureFirstAdmin({
  config,
  db,
  now,
  signIn,
  audit,
}: Ground & Pick<Services, 'config'>): Promise<FirstAdmin | null> {
  if (await hasUsers(db)) return null;
  const email = config.adminEmail ?? defaultAdminEmail;
  const password = config.adminPassword ?? newPassword();
  if (whyGuessable(password, { email }) !== null) {
    throw new Error(
      'ADMIN_PASSWORD is among the commonest passwords, or the address itself: choose another one.',
    );
  }
  const passwordFile = config.adminPassword === null ? firstAdminFile(config.dataDir) : null;
  const passwordHash = await signIn.hashPassword(password);

  // Written before the account is there: a password that is nowhere would lock everybody out.
  if (passwordFile !== null) await writePassword(passwordFile, email, password);
  const isMade = await change(db, 'accounts', async (tx) => {
    if (await hasUsers(tx)) return false;
    const at = now().toISOString();
    const admin = makeAdmin(register({ uid: randomUUID(), email, displayName: null }, at), at);
    await insertUser(tx, admin);
    await signIn.signUp(tx, admin.uid, passwordHash);
    await audit.record(tx, { action: 'first-admin-made', actor: null, target: admin.uid, origin: null });
    return true;
  });
  if (isMade) return { email, password: passwordFile && password, passwordFile };
  if (passwordFile !== null) await fs.rm(passwordFile); // another process was first
  return null;
}

/** Where the password of the first administrator is kept when the server chose it. */
export function firstAdminFile(dataDir: string): string {
  return path.join(dataDir, 'first-admin.txt');
}

/**
 * Makes the account of this address an active administrator with a new password; makes the account, if
 * there is none. Whatever was issued to it before ends.
 */
export async function restoreAdmin(
  { db, now, signIn, audit }: Ground,
  email: string,
): Promise<{ readonly email: string; readonly password: string; readonly isNew: boolean }> {
  const password = newPassword();
  const passwordHash = await signIn.hashPassword(password);
  return change(db, 'accounts', async (tx) => {
    const at = now().toISOString();
    const known = await findUserByEmail(tx, email);
    const before = known ?? register({ uid: randomUUID(), email, displayName: null }, at);
    const admin = makeAdmin(before, at);
    if (known === null) {
      await insertUser(tx, admin);
      await signIn.signUp(tx, admin.uid, passwordHash);
    } else {
      await updateUser(tx, admin);
      if (await signIn.hasPassword(tx, admin.uid)) await signIn.setPassword(tx, admin.uid, passwordHash);
      else await signIn.signUp(tx, admin.uid, passwordHash);
      await signIn.revokeAll(tx, admin.uid);
    }
    await audit.record(tx, {
      action: 'admin-restored',
      actor: null,
      target: admin.uid,
      detail: { status_before: before.status, role_before: before.role },
      origin: null,
    });
    return { email: admin.email, password, isNew: known === null };
  });
}

/** 120 random bits in groups that can be copied by hand. */
function newPassword(): string {
  const characters = newSecret().replaceAll(/[-_]/g, '').slice(0, 20);
  return characters.match(/.{5}/g)?.join('-') ?? characters;
}

async function writePassword(file: string, email: string, password: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await fs.rm(file, { force: true }); // an older file may be readable by others
  await fs.writeFile(file, `${email}\n${password}\n`, { mode: 0o600, flag: 'wx' });
}
