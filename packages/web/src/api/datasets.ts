/** Datasets: what administrators decide about them, and what members ask. */
import {
  answerDatasetRequest,
  type Dataset,
  type DatasetAccess,
  grantDataset,
  listDatasets,
  listRequestableDatasets,
  type RequestableDataset,
  requestDataset,
  revokeDataset,
  updateDataset,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from './action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { imageTexts, texts } from './texts.ts';
import { renewUsers, renewWaiting } from './users.ts';

const datasetsKey = ['datasets'];
const requestableKey = ['requestable-datasets'];
const askAgainMs = 30_000;

/** Every dataset, for administrators, in natural order of their names. */
export function useDatasets() {
  return useQuery({
    queryKey: datasetsKey,
    queryFn: async ({ signal }): Promise<readonly Dataset[]> =>
      (await call(listDatasets, { signal })).datasets,
    refetchInterval: askAgainMs,
    refetchOnWindowFocus: 'always',
  });
}

/** After slides have come into one, or have left one. */
export function renewDatasets(): void {
  void queryClient.invalidateQueries({ queryKey: datasetsKey });
}

/** @param listed whether members may know of it while it is restricted */
export function setDatasetAccess(
  dataset: string,
  access: DatasetAccess,
  listed: boolean,
): Promise<ActionResult> {
  const done = access === 'open' ? texts.datasetOpened : texts.datasetRestricted;
  return change(call(updateDataset, { body: { dataset, access, listed } }), done, texts.datasetFailed);
}

export function setDatasetListed(dataset: string, listed: boolean): Promise<ActionResult> {
  const called = call(updateDataset, { body: { dataset, access: 'restricted', listed } });
  return change(called, listed ? texts.datasetListed : texts.datasetUnlisted, texts.datasetFailed);
}

export function grant(dataset: string, uid: string): Promise<ActionResult> {
  return change(call(grantDataset, { body: { dataset, uid } }), texts.granted, texts.grantFailed);
}

export function revoke(dataset: string, uid: string): Promise<ActionResult> {
  return change(call(revokeDataset, { query: { dataset, uid } }), texts.revoked, texts.revokeFailed);
}

/** @param reason for the person to read; empty: none */
export function answerRequest(requestId: string, granted: boolean, reason: string): Promise<ActionResult> {
  const body = { granted, ...(reason && { reason }) };
  const called = call(answerDatasetRequest, { params: { requestId }, body });
  return change(called, granted ? texts.requestGranted : texts.requestRefused, texts.answerFailed);
}

/** Whatever came of it, what is shown is asked for again: a refusal, too, may mean that somebody else was first. */
async function change(called: Promise<unknown>, done: string, failed: string): Promise<ActionResult> {
  try {
    await called;
    return { success: true, message: done };
  } catch (error) {
    return { success: false, message: messageOf(error, failed), error: codeOf(error) };
  } finally {
    renewWaiting();
    renewUsers();
    await queryClient.invalidateQueries({ queryKey: datasetsKey });
  }
}

/** Restricted datasets that the caller may ask for, and what became of it. */
export function useRequestableDatasets() {
  return useQuery({
    queryKey: requestableKey,
    queryFn: async ({ signal }): Promise<readonly RequestableDataset[]> =>
      (await call(listRequestableDatasets, { signal })).datasets,
    refetchInterval: askAgainMs,
    refetchOnWindowFocus: 'always',
  });
}

/** @returns null when it was sent; else the sentence that says why not */
export async function askForDataset(dataset: string, reason: string): Promise<string | null> {
  try {
    await call(requestDataset, { body: { dataset, reason } });
    return null;
  } catch (error) {
    return messageOf(error, imageTexts.requestFailed);
  } finally {
    await queryClient.invalidateQueries({ queryKey: requestableKey });
  }
}
