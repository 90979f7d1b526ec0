/**
 * Queries for accounts. An account has a role (user, admin …) and a status: `pending` until an administrator has decided on the
 * application, then for example `active` or `suspended`.
 */
import { Language, Role, Status, type User } from '@lamina/contract';
import { emailKey } from '../domain/email.ts';
import type { Connection } from './database.ts';
import type { NewRow, Row } from './schema.ts';

/** Returns the status that a row states. An unknown status, of a newer version, counts as `suspended`, which grants no access. */
export function parseStatus(status: string): Status {
  return Status.safeParse(status).data ?? 'suspended';
}

/** Returns the role of a row. An unknown role, of a newer version, counts as `unassigned`: the user can access only their own account. */
export function parseRole(role: string): Role {
  return Role.safeParse(role).data ?? 'unassigned';
}

/** Converts the row of an account to the `User` of the API. */
export function userOf(row: Row<'users'>): User {
  return {
    uid: row.uid,
    email: row.email,
    displayName: row.display_name,
    status: parseStatus(row.status),
    role: parseRole(row.role),
    adminApproved: row.admin_approved === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    approvalDate: row.approval_date,
    expiresAt: row.expires_at,
  };
}

/** Converts the `User` of the API to a row, without the language of e-mails, which `User` does not contain. */
function rowOf(user: User): NewRow<'users'> {
  return {
    uid: user.uid,
    email: user.email,
    email_key: emailKey(user.email),
    display_name: user.displayName,
    status: user.status,
    role: user.role,
    admin_approved: user.adminApproved ? 1 : 0,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
    approval_date: user.approvalDate,
    expires_at: user.expiresAt,
  };
}

/**
 * Inserts an account.
 *
 * @param language language of e-mails to the account; default: Turkish
 * @throws an error for which `isUniqueViolation` is true, when another account has the e-mail address
 */
export async function insertUser(db: Connection, user: User, language: Language = 'tr'): Promise<void> {
  await db
    .insertInto('users')
    .values({ ...rowOf(user), language })
    .execute();
}

/** Returns the language of e-mails to an account; Turkish for an unknown account or language. */
export async function findLanguage(db: Connection, uid: string): Promise<Language> {
  const row = await db.selectFrom('users').select('language').where('uid', '=', uid).executeTakeFirst();
  return Language.safeParse(row?.language).data ?? 'tr';
}

export async function updateLanguage(db: Connection, uid: string, language: Language): Promise<void> {
  await db.updateTable('users').set({ language }).where('uid', '=', uid).execute();
}

/** Stores all fields of an account except the language of e-mails. */
export async function updateUser(db: Connection, user: User): Promise<void> {
  const { uid, ...fields } = rowOf(user);
  await db.updateTable('users').set(fields).where('uid', '=', uid).execute();
}

/** Deletes an account and, by foreign keys, rows that belong only to it, such as identities, tokens and sessions. */
export async function deleteUser(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('users').where('uid', '=', uid).execute();
}

export async function findUser(db: Connection, uid: string): Promise<User | null> {
  const row = await db.selectFrom('users').selectAll().where('uid', '=', uid).executeTakeFirst();
  return row === undefined ? null : userOf(row);
}

/** Finds accounts by uid, unordered; unknown uids are missing from the result. */
export async function listUsersByUid(db: Connection, uids: readonly string[]): Promise<User[]> {
  if (uids.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('uid', 'in', [...uids])
    .execute();
  return rows.map(userOf);
}

/** Finds an account by e-mail address; spellings that differ only in case or Unicode form are the same address. */
export async function findUserByEmail(db: Connection, email: string): Promise<User | null> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst();
  return row === undefined ? null : userOf(row);
}

/** Lists all accounts, newest first. */
export async function listUsers(db: Connection): Promise<User[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('uid', 'desc')
    .execute();
  return rows.map(userOf);
}

/** Returns whether there is an active administrator other than this account. */
export async function hasOtherActiveAdmin(db: Connection, uid: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('uid')
    .where('role', '=', 'admin')
    .where('status', '=', 'active')
    .where('uid', '!=', uid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the active administrators, oldest account first. */
export async function listActiveAdmins(db: Connection): Promise<User[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('role', '=', 'admin')
    .where('status', '=', 'active')
    .orderBy('created_at')
    .execute();
  return rows.map(userOf);
}

/** Returns whether any account exists. */
export async function hasUsers(db: Connection): Promise<boolean> {
  return (await db.selectFrom('users').select('uid').limit(1).executeTakeFirst()) !== undefined;
}
