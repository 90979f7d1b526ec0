import { AppError, may, type Permission, type User } from '@lamina/contract';
import type { SignInService } from './sign-in/sign-in-service.ts';
import type { Change } from './store/database.ts';

/**
 * The caller as it is inside the change: the call was let in a moment ago, and hashing takes its time.
 * A sign-in that has ended since does nothing more.
 *
 * @throws AppError token_invalid, forbidden
 */
export async function callerNow(
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
