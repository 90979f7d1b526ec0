/** The own account. */
import { changePassword, deleteAccount, getActivity, getProfile } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { byOf } from './by.ts';

export function accountRoutes(
  app: FastifyInstance,
  { accounts, audit }: Pick<Services, 'accounts' | 'audit'>,
): void {
  serve(app, getProfile, ({ caller }) => ({ user: caller.user }));

  serve(app, getActivity, async ({ caller }) => ({ activity: await audit.ownActivity(caller.user.uid) }));

  serve(app, changePassword, async (request) => {
    const { current_password: current, new_password: next } = request.body;
    await accounts.changeOwnPassword(byOf(request), { current, next });
    return { message: 'Şifre başarıyla değiştirildi' };
  });

  serve(app, deleteAccount, async (request) => {
    await accounts.deleteOwn(byOf(request), request.body.current_password);
    return { message: 'Hesap başarıyla silindi' };
  });
}
