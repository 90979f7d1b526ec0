/** Check of the current password in API calls with which people change their own account, for example its two-step verification. */
import { AppError } from '@lamina/contract';
import type { Origin } from '../audit/audit-recorder.ts';
import { emailKey } from '../domain/email.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import type { Throttle } from './throttle.ts';

/**
 * Checks the password if the request contains one. `serve` (http/serve.ts) has already rejected a request that needs a password and
 * contains none (docs/permissions.md section 7, step 6).
 *
 * @throws AppError reauth_required for a wrong password; rate_limited, unavailable
 */
export async function requireOwnPassword(
  { signIn, throttle }: { readonly signIn: SignInService; readonly throttle: Throttle },
  { uid, email, origin }: { readonly uid: string; readonly email: string; readonly origin: Origin },
  password: string | undefined,
): Promise<void> {
  if (password === undefined) return;
  await throttle.guard('password', { email, origin }, async () => {
    if (await signIn.isPasswordOf(uid, password, { address: origin.address, account: emailKey(email) }))
      return;
    throw new AppError('reauth_required', { reason: 'current_password_wrong' });
  });
}
