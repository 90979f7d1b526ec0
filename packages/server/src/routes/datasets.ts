/** Datasets: what administrators decide about them, and what members ask. */
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
import { byOf } from './by.ts';

export function datasetRoutes(app: FastifyInstance, { datasets }: Pick<Services, 'datasets'>): void {
  serve(app, listDatasets, async () => ({ datasets: await datasets.list() }));

  serve(app, updateDataset, async (request) => {
    const { dataset, access, listed } = request.body;
    await datasets.update(byOf(request), dataset, { access, listed });
    return { message: access === 'open' ? 'Veri kümesi herkese açıldı.' : 'Veri kümesi kısıtlandı.' };
  });

  serve(app, grantDataset, async (request) => {
    await datasets.grant(byOf(request), request.body.dataset, request.body.uid);
    return { message: 'Erişim verildi.' };
  });

  serve(app, revokeDataset, async (request) => {
    await datasets.revoke(byOf(request), request.query.dataset, request.query.uid);
    return { message: 'Erişim kaldırıldı.' };
  });

  serve(app, answerDatasetRequest, async (request) => {
    await datasets.answer(byOf(request), request.params.requestId, request.body);
    return { message: request.body.granted ? 'İstek kabul edildi.' : 'İstek reddedildi.' };
  });

  serve(app, listRequestableDatasets, async ({ caller }) => ({
    datasets: await datasets.requestable(caller.user),
  }));

  serve(app, requestDataset, async (request) => {
    const isSent = await datasets.request(byOf(request), request.body.dataset, request.body.reason);
    return { message: isSent ? 'Your request has been sent.' : 'You already have access to this dataset.' };
  });
}
