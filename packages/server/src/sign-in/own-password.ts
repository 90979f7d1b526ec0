/** The current password, where a call may ask for it. */
import { AppError } from '@lamina/contract';
import type { Origin } from '../audit.ts';
import type { SignInService } from './sign-in-service.ts';
import type { Throttle } from './throttle.ts';

/**
 * Lets everybody pass who sent none: whether one is needed is decided before (permissions.md section 7, step 6).
 *
 * @throws AppError reauth_required, rate_limited, unavailable
 */
export async function requireOwnPassword(
  { signIn, throttle }: { readonly signIn: SignInService; readonly throttle: Throttle },
  { uid, email, origin }: { readonly uid: string; readonly email: string; readonly origin: Origin },
  password: string | undefined,
): Promise<void> {
  if (password === undefined) return;
  await throttle.guard('password', { email, origin }, async () => {
    if (await signIn.isPassword(uid, password)) return;
    throw new AppError('reauth_required', {
      message: { tr: 'Mevcut şifreniz hatalı.', en: 'Your current password is wrong.' },
    });
  });
}
