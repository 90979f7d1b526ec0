import { AppError, may, type Permission, type User } from '@lamina/contract';
import type { SignInService } from './sign-in/sign-in-service.ts';
import type { Change } from './store/database.ts';
import { findUser } from './store/users.ts';

/**
 * The caller as it is inside the change: the call was let in a moment ago, and hashing takes its time.
 * A sign-in that has ended since does nothing more.
 *
 * @throws AppError token_invalid, forbidden
 */
export async function callerNow(
  tx: Change,
  signIn: Pick<SignInService, 'isSignedIn'>,
  { uid, tokenHash }: { readonly uid: string; readonly tokenHash: string },
  permission: Permission,
  now = new Date(),
): Promise<User> {
  const found = await findUser(tx, uid);
  const user = found && standing(found, now);
  if (user === null || !(await signIn.isSignedIn(tx, tokenHash))) throw new AppError('token_invalid');
  if (!may(user, permission)) throw new AppError('forbidden');
  return user;
}
