/** The access check of a request, repeated in the transaction that makes the change. */
import { AppError, may, type Permission, type User } from '@lamina/contract';
import type { DatabaseTransaction } from '../store/database.ts';
import type { SignInService } from './sign-in-service.ts';

/**
 * Reads the caller's account again within the transaction, and checks that the caller is still signed in and still has the
 * permission. Both may have ended since the access check of the request, for example while a password was hashed.
 *
 * @returns the account as it is in the transaction
 * @throws AppError token_invalid when the sign-in has ended, forbidden when the account has lost the permission
 */
export async function recheckCaller(
  tx: DatabaseTransaction,
  signIn: Pick<SignInService, 'holderOf'>,
  { uid, tokenHash }: { readonly uid: string; readonly tokenHash: string },
  permission: Permission,
): Promise<User> {
  const user = await signIn.holderOf(tx, tokenHash); // null when the sign-in has ended
  if (user?.uid !== uid) throw new AppError('token_invalid');
  if (!may(user, permission)) throw new AppError('forbidden');
  return user;
}
