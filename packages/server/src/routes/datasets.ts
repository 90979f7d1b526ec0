/** Routes with which administrators configure datasets, and members request access to them. */
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
  opened: { tr: 'Veri kümesi herkese açıldı.', en: 'The dataset is open to all members.' },
  changed: { tr: 'Veri kümesinin ayarları değişti.', en: 'The settings of the dataset have been changed.' },
  restricted: { tr: 'Veri kümesi kısıtlandı.', en: 'The dataset is restricted.' },
  accepted: { tr: 'İstek kabul edildi.', en: 'The request has been accepted.' },
  declined: { tr: 'İstek reddedildi.', en: 'The request has been declined.' },
  requested: { tr: 'İsteğiniz gönderildi.', en: 'Your request has been sent.' },
  alreadyGranted: {
    tr: 'Bu veri kümesine zaten erişiminiz var.',
    en: 'You already have access to this dataset.',
  },
} as const;

export function datasetRoutes(app: FastifyInstance, { datasets }: Pick<Services, 'datasets'>): void {
  serve(app, listDatasets, async () => ({ datasets: await datasets.list() }));

  serve(app, updateDataset, async (request) => {
    const { dataset, access, listed, sharing, identifiable_originals: identifiableOriginals } = request.body;
    await datasets.update(actorOf(request), dataset, { access, listed, sharing, identifiableOriginals });
    // A request without `access` changes only other settings of the dataset.
    if (access === undefined) return { message: request.translate(messages.changed) };
    return { message: request.translate(access === 'open' ? messages.opened : messages.restricted) };
  });

  serve(app, grantDataset, async (request) => {
    const { dataset, uid, download } = request.body;
    await datasets.grant(actorOf(request), dataset, uid, download);
    return { message: request.translate({ tr: 'Erişim verildi.', en: 'Access has been given.' }) };
  });

  serve(app, revokeDataset, async (request) => {
    await datasets.revoke(actorOf(request), request.query.dataset, request.query.uid);
    return { message: request.translate({ tr: 'Erişim kaldırıldı.', en: 'Access has been removed.' }) };
  });

  serve(app, answerDatasetRequest, async (request) => {
    await datasets.answer(actorOf(request), request.params.requestId, request.body);
    return { message: request.translate(request.body.granted ? messages.accepted : messages.declined) };
  });

  serve(app, listRequestableDatasets, async ({ caller }) => ({
    datasets: await datasets.listRequestable(caller.user),
  }));

  serve(app, requestDataset, async (request) => {
    const isRequested = await datasets.request(actorOf(request), request.body.dataset, request.body.reason);
    return { message: request.translate(isRequested ? messages.requested : messages.alreadyGranted) };
  });
}
