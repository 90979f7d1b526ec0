/**
 * The embedded sign-in service: exchanges e-mail and password for an identity token, which the API endpoint `verifyToken` then checks.
 * A module for another service can replace this one if it exports the same function.
 */
import { signIn } from '@lamina/contract';
import { call } from './client.ts';

/**
 * Returns an identity token for an e-mail and password.
 *
 * @param code second-factor code, or empty
 * @throws AppError credentials_invalid, second_factor_required, second_factor_invalid, account_not_active
 *   (deactivated), rate_limited; otherwise like `call`
 */
export async function identityTokenFor(email: string, password: string, code: string): Promise<string> {
  const { token } = await call(signIn, { body: { email, password, ...(code && { code }) } });
  return token;
}
