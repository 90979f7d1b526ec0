/**
 * The sign-in service: e-mail and password in, identity token out.
 *
 * The embedded service stands here; another one takes its place by doing the same. What the API thinks
 * of the token, and of the account, is found out by `verifyToken` afterwards.
 */
import { signIn } from '@lamina/contract';
import { call } from './client.ts';

/**
 * @param code of the second factor, or empty
 * @throws AppError credentials_invalid, second_factor_required, second_factor_invalid, account_not_active
 *   (deactivated), rate_limited; NoAnswerError
 */
export async function identityTokenFor(email: string, password: string, code: string): Promise<string> {
  const { token } = await call(signIn, { body: { email, password, ...(code && { code }) } });
  return token;
}
