/** Routes with which people read, change and delete their own account, its sign-ins and its two-step verification. */
import {
  changeLanguage,
  changePassword,
  confirmSecondFactor,
  deleteAccount,
  endSignIn,
  endSignIns,
  getActivity,
  getProfile,
  getSecondFactor,
  listSignIns,
  removeSecondFactor,
  startSecondFactor,
  type User,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { findDecisionReason } from '../store/applications.ts';
import type { Database } from '../store/database.ts';
import { imageIdsInDatasets } from '../store/datasets.ts';
import { updateLanguage } from '../store/users.ts';
import { actorOf } from './actor.ts';

export function accountRoutes(
  app: FastifyInstance,
  {
    accounts,
    audit,
    datasets,
    db,
    ownSignIns,
    twoStepVerification,
  }: Pick<Services, 'accounts' | 'audit' | 'datasets' | 'db' | 'ownSignIns' | 'twoStepVerification'>,
): void {
  serve(app, getProfile, async ({ caller: { user } }) => ({
    user: { ...user, decisionReason: await rejectionReason(db, user) },
  }));

  serve(app, getActivity, async ({ caller: { user } }) => {
    const activity = await audit.ownActivity(user.uid);
    const openedImageIds = activity.flatMap(({ imageId }) => imageId ?? []); // null: the event concerns no image
    const inaccessibleImageIds = await imageIdsInDatasets(
      db,
      await datasets.inaccessibleTo(user),
      openedImageIds,
    );
    // A slide that the user has opened but may no longer see stays in the activity without its id, so the web app shows no link.
    return {
      activity: activity.map((event) =>
        event.imageId !== null && inaccessibleImageIds.has(event.imageId)
          ? { ...event, imageId: null }
          : event,
      ),
    };
  });

  serve(app, changeLanguage, ({ caller: { user }, body }) => updateLanguage(db, user.uid, body.language));

  serve(app, changePassword, async (request) => {
    const { current_password: current, new_password: next } = request.body;
    await accounts.changeOwnPassword(actorOf(request), { current, next });
    return {
      message: request.translate({ tr: 'Şifre başarıyla değiştirildi', en: 'The password has been changed' }),
    };
  });

  serve(app, deleteAccount, async (request) => {
    await accounts.deleteOwn(actorOf(request), request.body.current_password);
    return {
      message: request.translate({ tr: 'Hesap başarıyla silindi', en: 'The account has been deleted' }),
    };
  });

  serve(app, listSignIns, async (request) => ({ sign_ins: await ownSignIns.list(actorOf(request)) }));

  serve(app, endSignIn, (request) => ownSignIns.end(actorOf(request), request.params.id));

  serve(app, endSignIns, async (request) => {
    const exceptThis = request.query.except === 'current';
    await ownSignIns.endAll(actorOf(request), { exceptThis });
    // Tells the browser to delete cached slide data; needed only if the sign-in of this browser has ended, too.
    if (!exceptThis) request.reply.header('Clear-Site-Data', '"cache"');
  });

  // The second factor, called two-step verification in the web app, is a time-based code (TOTP) or a recovery code.
  serve(app, getSecondFactor, ({ caller }) => twoStepVerification.stateOf(caller.user.uid));

  serve(app, startSecondFactor, (request) =>
    twoStepVerification.start(actorOf(request), request.body.current_password),
  );

  serve(app, confirmSecondFactor, async (request) => ({
    recovery_codes: await twoStepVerification.confirm(actorOf(request), request.body.code),
    message: request.translate({ tr: 'İki adımlı doğrulama açıldı.', en: 'Two-step verification is on.' }),
  }));

  serve(app, removeSecondFactor, async (request) => {
    await twoStepVerification.remove(actorOf(request), request.body.current_password);
    return {
      message: request.translate({
        tr: 'İki adımlı doğrulama kapatıldı.',
        en: 'Two-step verification is off.',
      }),
    };
  });
}

/** Returns the reason for which an administrator rejected the user, whose account is then suspended; null if there is none. */
function rejectionReason(db: Database, { uid, status }: User): Promise<string | null> | null {
  return status === 'suspended' ? findDecisionReason(db, uid) : null;
}
