/** Routes with which administrators configure datasets and grant access to them, and members request access. */
import {
  answerDatasetRequest,
  grantDataset,
  listDatasets,
  listRequestableDatasets,
  requestDataset,
  revokeDataset,
  updateDataset,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

const messages = {
  opened: { tr: 'Veri kümesi tüm üyelere açıldı.', en: 'The dataset is open to all members.' },
  changed: { tr: 'Veri kümesinin ayarları değişti.', en: 'The settings of the dataset have been changed.' },
  restricted: { tr: 'Veri kümesi kısıtlandı.', en: 'The dataset is restricted.' },
  accepted: { tr: 'İstek kabul edildi.', en: 'The request has been accepted.' },
  rejected: { tr: 'İstek reddedildi.', en: 'The request has been rejected.' },
  requested: { tr: 'İsteğiniz gönderildi.', en: 'Your request has been sent.' },
  alreadyGranted: {
    tr: 'Bu veri kümesine zaten erişiminiz var.',
    en: 'You already have access to this dataset.',
  },
} as const;

export function datasetRoutes(app: FastifyInstance, { datasets }: Pick<Services, 'datasets'>): void {
  serve(app, listDatasets, async () => ({ datasets: await datasets.list() }));

  // `listed`: members see that the restricted dataset exists, and may request access; `sharing`: share links may open its slides;
  // `identifiable_originals`: original files that cannot be de-identified may be downloaded. An undefined field stays unchanged, except
  // that restricting an open dataset sets `sharing` to false.
  serve(app, updateDataset, async (request) => {
    const { dataset, access, listed, sharing, identifiable_originals: identifiableOriginals } = request.body;
    await datasets.update(actorOf(request), dataset, { access, listed, sharing, identifiableOriginals });
    if (access === undefined) return { message: request.translate(messages.changed) };
    return { message: request.translate(access === 'open' ? messages.opened : messages.restricted) };
  });

  serve(app, grantDataset, async (request) => {
    const { dataset, uid, download: mayDownload } = request.body;
    await datasets.grant(actorOf(request), dataset, uid, mayDownload);
    return { message: request.translate({ tr: 'Erişim verildi.', en: 'Access has been given.' }) };
  });

  serve(app, revokeDataset, async (request) => {
    await datasets.revoke(actorOf(request), request.query.dataset, request.query.uid);
    return { message: request.translate({ tr: 'Erişim kaldırıldı.', en: 'Access has been removed.' }) };
  });

  serve(app, answerDatasetRequest, async (request) => {
    const { params, body } = request;
    await datasets.answer(actorOf(request), params.requestId, body);
    const isAccepted = body.granted;
    return { message: request.translate(isAccepted ? messages.accepted : messages.rejected) };
  });

  serve(app, listRequestableDatasets, async ({ caller }) => ({
    datasets: await datasets.listRequestable(caller.user),
  }));

  serve(app, requestDataset, async (request) => {
    // False if the account already has access, so it needs no request.
    const isRequested = await datasets.request(actorOf(request), request.body.dataset, request.body.reason);
    return { message: request.translate(isRequested ? messages.requested : messages.alreadyGranted) };
  });
}
