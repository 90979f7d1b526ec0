/** Registering and signing in; the rules and the messages of what follows are in accounts.ts. */
import {
  AppError,
  confirmPasswordReset,
  register,
  requestPasswordReset,
  signIn as signInEndpoint,
  signOut,
  verifyToken,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { byOf } from './by.ts';

export function authRoutes(
  app: FastifyInstance,
  { accounts, signIn }: Pick<Services, 'accounts' | 'signIn'>,
): void {
  serve(app, register, async ({ body, origin }) => ({
    user: await accounts.register(body, origin),
    message: 'Kayıt başarılı! Yönetici onayı bekleniyor.',
  }));

  serve(app, signInEndpoint, async ({ body, origin }) => {
    const { token, expiresInSeconds } = await accounts.signIn(body.email, body.password, origin);
    return { token, expires_in: expiresInSeconds };
  });

  serve(app, verifyToken, async ({ body }) => {
    const resolved = await signIn.resolveToken(body.token);
    if (resolved === null) throw new AppError('token_invalid');
    return { user: resolved.user, token: body.token };
  });

  serve(app, signOut, async (request) => {
    await accounts.signOut(byOf(request));
    // What the browser kept of the slides belongs to the sign-in that has ended.
    request.reply.header('Clear-Site-Data', '"cache"');
  });

  serve(app, requestPasswordReset, ({ body, origin }) => {
    accounts.requestPasswordReset(body.email, origin);
    return { message: 'Bu adresle kayıtlı bir hesap varsa, şifre sıfırlama bağlantısı gönderildi.' };
  });

  serve(app, confirmPasswordReset, async ({ body, origin }) => {
    await accounts.confirmPasswordReset(body.code, body.new_password, origin);
    return { message: 'Şifre başarıyla değiştirildi' };
  });
}
