import { AppError, may, type Permission, type User } from '@lamina/contract';
import type { Change } from '../store/database.ts';
import type { SignInService } from './sign-in-service.ts';

/**
 * Returns the current state of the caller's account in the transaction. The sign-in or the permission may have ended since the
 * access check, for example during hashing.
 *
 * @throws AppError token_invalid, forbidden
 */
export async function currentCaller(
  tx: Change,
  signIn: Pick<SignInService, 'holderOf'>,
  { uid, tokenHash }: { readonly uid: string; readonly tokenHash: string },
  permission: Permission,
): Promise<User> {
  const user = await signIn.holderOf(tx, tokenHash);
  if (user?.uid !== uid) throw new AppError('token_invalid');
  if (!may(user, permission)) throw new AppError('forbidden');
  return user;
}
