/** Routes with which administrators manage accounts. A user whose account is pending is an applicant with an application. */
import {
  AppError,
  approveApplications,
  approveUser,
  countWaiting,
  type DecisionResult,
  deactivateUser,
  type Endpoint,
  getStatistics,
  getUser,
  listApplications,
  listUsers,
  promoteUser,
  rejectApplications,
  rejectUser,
  resetSecondFactor,
  setUserPassword,
  suspendUser,
  updateUserAccess,
  withdrawApproval,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { likelyDuplicates } from '../domain/likely-duplicates.ts';
import { isTimeZone } from '../domain/local-days.ts';
import { errorSentence } from '../http/error-sentence.ts';
import { type EndpointRequest, serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { countOpenDatasetRequests } from '../store/dataset-requests.ts';
import { countStatistics } from '../store/statistics.ts';
import { countPendingUsers } from '../store/user-details.ts';
import { listUsers as listAccounts } from '../store/users.ts';
import { actorOf } from './actor.ts';

export function userRoutes(
  app: FastifyInstance,
  {
    accounts,
    db,
    now,
    twoStepVerification,
  }: Pick<Services, 'accounts' | 'db' | 'now' | 'twoStepVerification'>,
): void {
  serve(app, listUsers, async (request) => ({
    ...(await accounts.list(request.query)),
    message: request.translate({ tr: 'Kullanıcılar başarıyla yüklendi.', en: 'The users have been loaded.' }),
  }));

  serve(app, listApplications, async ({ query }) => {
    // `applicants` is one page of the matches, `total` the number of matches on all pages, and `waiting` the number of all applicants.
    const [{ users: applicants, total }, allAccounts, waiting] = await Promise.all([
      accounts.list({ ...query, status: 'pending', sort: 'oldest' }),
      listAccounts(db),
      countPendingUsers(db),
    ]);
    const duplicates = likelyDuplicates(applicants, allAccounts); // other accounts that may belong to the same persons
    return {
      applications: applicants.map((user, index) => ({ user, duplicates: [...(duplicates[index] ?? [])] })),
      total,
      waiting,
    };
  });

  serve(app, approveApplications, async (request) => {
    const { uids, role, datasets, expires_at: expiresAt } = request.body;
    // With `onlyPending`, the approval fails if another administrator has decided about the applicant in the meantime.
    const approval = { role, datasets, expiresAt, onlyPending: true };
    return decideEach(request, uids, 'approval', (uid) => accounts.approve(actorOf(request), uid, approval));
  });

  serve(app, rejectApplications, (request) =>
    decideEach(request, request.body.uids, 'rejection', (uid) =>
      accounts.reject(actorOf(request), uid, request.body.reason),
    ),
  );

  serve(app, countWaiting, async () => ({
    applications: await countPendingUsers(db),
    datasetRequests: await countOpenDatasetRequests(db),
  }));

  serve(app, getUser, async ({ params }) => ({ user: await accounts.get(params.uid) }));

  serve(app, approveUser, async (request) => {
    const { role, datasets, expires_at: expiresAt } = request.body;
    await accounts.approve(actorOf(request), request.params.uid, { role, datasets, expiresAt });
    return {
      message: request.translate({ tr: 'Kullanıcı başarıyla onaylandı.', en: 'The user has been approved.' }),
    };
  });

  serve(app, withdrawApproval, async (request) => {
    await accounts.withdrawApproval(actorOf(request), request.params.uid);
    return {
      message: request.translate({ tr: 'Onay geri alındı.', en: 'The approval has been withdrawn.' }),
    };
  });

  serve(app, rejectUser, async (request) => {
    await accounts.reject(actorOf(request), request.params.uid, request.body.reason);
    return {
      message: request.translate({ tr: 'Başvuru reddedildi.', en: 'The application has been rejected.' }),
    };
  });

  serve(app, updateUserAccess, async (request) => {
    const { datasets, expires_at: expiresAt } = request.body;
    await accounts.changeAccess(actorOf(request), request.params.uid, { datasets, expiresAt });
    return { message: request.translate({ tr: 'Erişim güncellendi.', en: 'The access has been updated.' }) };
  });

  serve(app, suspendUser, async (request) => {
    await accounts.suspend(actorOf(request), request.params.uid);
    return {
      message: request.translate({
        tr: 'Kullanıcı başarıyla askıya alındı.',
        en: 'The user has been suspended.',
      }),
    };
  });

  serve(app, deactivateUser, async (request) => {
    await accounts.deactivate(actorOf(request), request.params.uid);
    return {
      message: request.translate({
        tr: 'Kullanıcı başarıyla devre dışı bırakıldı.',
        en: 'The user has been deactivated.',
      }),
    };
  });

  serve(app, promoteUser, async (request) => {
    await accounts.promote(actorOf(request), request.params.uid);
    return {
      message: request.translate({
        tr: 'Kullanıcı başarıyla yönetici yapıldı.',
        en: 'The user is now an administrator.',
      }),
    };
  });

  serve(app, setUserPassword, async (request) => {
    await accounts.setPassword(actorOf(request), request.params.uid, request.body.new_password);
    return {
      message: request.translate({ tr: 'Şifre başarıyla değiştirildi', en: 'The password has been changed' }),
    };
  });

  serve(app, resetSecondFactor, async (request) => {
    await twoStepVerification.reset(actorOf(request), request.params.uid);
    return {
      message: request.translate({
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

/**
 * Approves or rejects several applicants with `decide`, each in a separate transaction, and returns the outcome for each. An error with
 * status 400, 404 or 409 concerns only its applicant and becomes the outcome. Any other error stops the loop: at the first applicant,
 * the request fails; at a later applicant, the results contain only the applicants before.
 */
async function decideEach(
  { language, reply }: Pick<EndpointRequest<Endpoint>, 'language' | 'reply'>,
  uids: readonly string[],
  decision: 'approval' | 'rejection',
  decide: (uid: string) => Promise<void>,
): Promise<{ results: DecisionResult[] }> {
  const results: DecisionResult[] = [];
  for (const uid of new Set(uids)) {
    try {
      await decide(uid);
      results.push({ uid, error: null });
    } catch (error) {
      if (error instanceof AppError && [400, 404, 409].includes(error.status)) {
        results.push({ uid, error: { code: error.code, message: errorSentence(error, language) } });
        continue;
      }
      if (results.length === 0) throw error;
      reply.log.error(
        { err: error, decision, failedUid: uid, decidedCount: results.length, requestedCount: uids.length },
        'bulk approval or rejection of applicants stopped at account `failedUid`; this and the following accounts stay pending; repeat the action for them',
      );
      break;
    }
  }
  return { results };
}
