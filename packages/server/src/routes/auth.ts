/** Routes for registration, sign-in and password reset. The rules are in accounts/accounts.ts. */
import {
  AppError,
  checkPasswordReset,
  confirmPasswordReset,
  confirmRegistration,
  register,
  requestPasswordReset,
  signIn as signInEndpoint,
  signOut,
  verifyToken,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { isIdentityToken } from '../sign-in/external-sign-in.ts';
import { actorOf } from './actor.ts';

const registrationReceived = {
  tr: 'Kayıt başarılı! Yönetici onayı bekleniyor.',
  en: 'You are registered! An administrator has yet to approve your account.',
};

const confirmationLinkSent = {
  tr: 'Kaydınız alındı. Devam etmek için e-posta adresinize gönderilen bağlantıyı açın.',
  en: 'We have received your registration. To continue, open the link that was sent to your e-mail address.',
};

export function authRoutes(
  app: FastifyInstance,
  {
    accounts,
    signIn,
    externalSignIn,
    confirmedRegistration,
    audit,
    config,
  }: Pick<Services, 'accounts' | 'signIn' | 'externalSignIn' | 'confirmedRegistration' | 'audit' | 'config'>,
): void {
  /** @throws AppError forbidden when people sign in only at an external provider, not with e-mail and password */
  function requireEmbeddedSignIn(): void {
    if (!config.signIn.embedded) throw new AppError('forbidden', { reason: 'external_sign_in_only' });
  }

  serve(app, register, async ({ body, origin, language, translate }) => {
    requireEmbeddedSignIn();
    return {
      user: await accounts.register({ ...body, language }, origin),
      // With REGISTRATION_HIDE_EXISTING, the response is the same for an e-mail address that already has an account.
      message: translate(config.registrationHideExisting ? confirmationLinkSent : registrationReceived),
    };
  });

  serve(app, confirmRegistration, async ({ body, origin, translate }) => {
    requireEmbeddedSignIn();
    await confirmedRegistration.confirm(body.code, body.password, origin);
    return {
      message: translate({
        tr: 'E-posta adresiniz doğrulandı. Yönetici onayı bekleniyor.',
        en: 'Your e-mail address is confirmed. An administrator has yet to approve your account.',
      }),
    };
  });

  serve(app, signInEndpoint, async ({ body, origin }) => {
    requireEmbeddedSignIn();
    const { token, expiresInSeconds } = await accounts.signIn(body, origin);
    return { token, expires_in: expiresInSeconds };
  });

  // The token is an ID token of an external provider, with which the user signs in, or a bearer token of this server,
  // which the response returns unchanged.
  serve(app, verifyToken, async ({ body, origin, language }) => {
    if (isIdentityToken(body.token)) return externalSignIn.signIn(body.token, body.nonce, origin, language);
    const resolved = await signIn.resolveToken(body.token);
    if (resolved === null) {
      const detail = { code: 'token_invalid' };
      // In a transaction of its own, because the request changes nothing else with which the event could be committed.
      await audit.recordSeparately({
        action: 'token-refused',
        result: 'refused',
        actor: null,
        target: null,
        detail,
        origin,
      });
      throw new AppError('token_invalid');
    }
    return { user: resolved.user, token: body.token };
  });

  serve(app, signOut, async (request) => {
    await accounts.signOut(actorOf(request));
    // Tells the browser to delete cached slide data, which belongs to the ended sign-in.
    request.reply.header('Clear-Site-Data', '"cache"');
  });

  serve(app, requestPasswordReset, async ({ body, origin, translate }) => {
    requireEmbeddedSignIn();
    await accounts.requestPasswordReset(body.email, origin);
    return {
      message: translate({
        tr: 'Bu adresle kayıtlı bir hesap varsa, şifre sıfırlama bağlantısı gönderildi.',
        en: 'If there is an account with this address, a link to reset the password has been sent.',
      }),
    };
  });

  serve(app, checkPasswordReset, async ({ body, origin }) => {
    requireEmbeddedSignIn();
    await accounts.checkPasswordReset(body.code, origin);
  });

  serve(app, confirmPasswordReset, async ({ body, origin, translate }) => {
    requireEmbeddedSignIn();
    await accounts.confirmPasswordReset(body.code, body.new_password, origin);
    return {
      message: translate({ tr: 'Şifre başarıyla değiştirildi', en: 'The password has been changed' }),
    };
  });
}
