/** What administrators do with accounts. */
import {
  approveUser,
  deactivateUser,
  getStatistics,
  getUser,
  listUsers,
  promoteUser,
  setUserPassword,
  suspendUser,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { countStatistics } from '../store/statistics.ts';
import { byOf } from './by.ts';

export function userRoutes(
  app: FastifyInstance,
  { accounts, db, now }: Pick<Services, 'accounts' | 'db' | 'now'>,
): void {
  serve(app, listUsers, async () => ({
    users: await accounts.list(),
    message: 'Kullanıcılar başarıyla yüklendi.',
  }));

  serve(app, getUser, async ({ params }) => ({ user: await accounts.get(params.uid) }));

  serve(app, approveUser, async (request) => {
    await accounts.approve(byOf(request), request.params.uid, request.body.role);
    return { message: 'Kullanıcı başarıyla onaylandı.' };
  });

  serve(app, suspendUser, async (request) => {
    await accounts.suspend(byOf(request), request.params.uid);
    return { message: 'Kullanıcı başarıyla askıya alındı.' };
  });

  serve(app, deactivateUser, async (request) => {
    await accounts.deactivate(byOf(request), request.params.uid);
    return { message: 'Kullanıcı başarıyla devre dışı bırakıldı.' };
  });

  serve(app, promoteUser, async (request) => {
    await accounts.promote(byOf(request), request.params.uid);
    return { message: 'Kullanıcı başarıyla yönetici yapıldı.' };
  });

  serve(app, setUserPassword, async (request) => {
    await accounts.setPassword(byOf(request), request.params.uid, request.body.new_password);
    return { message: 'Şifre başarıyla değiştirildi' };
  });

  serve(app, getStatistics, () => countStatistics(db, now()));
}
