/** What administrators do with accounts. */
import {
  AppError,
  applicationsAtOnce,
  approveUser,
  countWaiting,
  deactivateUser,
  getStatistics,
  getUser,
  listApplications,
  listUsers,
  promoteUser,
  rejectUser,
  resetSecondFactor,
  setUserPassword,
  suspendUser,
  updateUserAccess,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { likelyDuplicates } from '../domain/likely-duplicates.ts';
import { isTimeZone } from '../domain/local-days.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { countOpenDatasetRequests } from '../store/dataset-requests.ts';
import { countStatistics } from '../store/statistics.ts';
import { countWaitingUsers, listWaiting } from '../store/user-details.ts';
import { listUsers as listAccounts } from '../store/users.ts';
import { byOf } from './by.ts';

export function userRoutes(
  app: FastifyInstance,
  { accounts, db, now, twoStep }: Pick<Services, 'accounts' | 'db' | 'now' | 'twoStep'>,
): void {
  serve(app, listUsers, async (request) => ({
    users: await accounts.list(),
    message: request.say({ tr: 'Kullanıcılar başarıyla yüklendi.', en: 'The users have been loaded.' }),
  }));

  serve(app, listApplications, async () => {
    const [waiting, everybody, count] = await Promise.all([
      listWaiting(db, applicationsAtOnce),
      listAccounts(db),
      countWaitingUsers(db),
    ]);
    const duplicates = likelyDuplicates(waiting, everybody);
    return {
      applications: waiting.map((user, place) => ({ user, duplicates: [...(duplicates[place] ?? [])] })),
      waiting: count,
    };
  });

  serve(app, countWaiting, async () => ({
    applications: await countWaitingUsers(db),
    datasetRequests: await countOpenDatasetRequests(db),
  }));

  serve(app, getUser, async ({ params }) => ({ user: await accounts.get(params.uid) }));

  serve(app, approveUser, async (request) => {
    const { role, datasets, expires_at: expiresAt } = request.body;
    await accounts.approve(byOf(request), request.params.uid, { role, datasets, expiresAt });
    return {
      message: request.say({ tr: 'Kullanıcı başarıyla onaylandı.', en: 'The user has been approved.' }),
    };
  });

  serve(app, rejectUser, async (request) => {
    await accounts.reject(byOf(request), request.params.uid, request.body.reason);
    return { message: request.say({ tr: 'Başvuru reddedildi.', en: 'The application has been declined.' }) };
  });

  serve(app, updateUserAccess, async (request) => {
    const { datasets, expires_at: expiresAt } = request.body;
    await accounts.changeAccess(byOf(request), request.params.uid, { datasets, expiresAt });
    return { message: request.say({ tr: 'Erişim güncellendi.', en: 'The access has been updated.' }) };
  });

  serve(app, suspendUser, async (request) => {
    await accounts.suspend(byOf(request), request.params.uid);
    return {
      message: request.say({ tr: 'Kullanıcı başarıyla askıya alındı.', en: 'The user has been suspended.' }),
    };
  });

  serve(app, deactivateUser, async (request) => {
    await accounts.deactivate(byOf(request), request.params.uid);
    return {
      message: request.say({
        tr: 'Kullanıcı başarıyla devre dışı bırakıldı.',
        en: 'The user has been deactivated.',
      }),
    };
  });

  serve(app, promoteUser, async (request) => {
    await accounts.promote(byOf(request), request.params.uid);
    return {
      message: request.say({
        tr: 'Kullanıcı başarıyla yönetici yapıldı.',
        en: 'The user is now an administrator.',
      }),
    };
  });

  serve(app, setUserPassword, async (request) => {
    await accounts.setPassword(byOf(request), request.params.uid, request.body.new_password);
    return {
      message: request.say({ tr: 'Şifre başarıyla değiştirildi', en: 'The password has been changed' }),
    };
  });

  serve(app, resetSecondFactor, async (request) => {
    await twoStep.reset(byOf(request), request.params.uid);
    return {
      message: request.say({
        tr: 'Kullanıcının iki adımlı doğrulaması kaldırıldı.',
        en: "The user's two-step verification has been removed.",
      }),
    };
  });

  serve(app, getStatistics, ({ query: { zone = 'UTC' } }) => {
    if (!isTimeZone(zone)) throw new AppError('invalid_request', { field: 'zone' });
    return countStatistics(db, now(), zone);
  });
}
