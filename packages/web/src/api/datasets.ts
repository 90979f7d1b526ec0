/** Loads and changes datasets for administrators, and requests access to datasets for members. */
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
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { imageTexts, texts } from './texts.ts';
import { invalidateUsers, invalidateWaiting } from './users-keys.ts';

const datasetsKey = ['datasets'];
const requestableKey = ['requestable-datasets'];
const pollMs = 30_000;

/** Returns all datasets for administrators, in natural order. */
export function useDatasets() {
  return useQuery({
    queryKey: datasetsKey,
    queryFn: async ({ signal }): Promise<readonly Dataset[]> =>
      (await call(listDatasets, { signal })).datasets,
    refetchInterval: pollMs,
    refetchOnWindowFocus: 'always',
  });
}

/** Invalidates the datasets after slides were added or removed. */
export function invalidateDatasets(): void {
  void queryClient.invalidateQueries({ queryKey: datasetsKey });
}

/** @param listed whether members see the name of the restricted dataset */
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

/** Sets whether share links may open the slides of a dataset. */
export function setDatasetSharing(
  { name, access }: Pick<Dataset, 'name' | 'access'>,
  sharing: boolean,
): Promise<ActionResult> {
  const called = call(updateDataset, { body: { dataset: name, access, sharing } });
  return change(called, sharing ? texts.sharingOn : texts.sharingOff, texts.datasetFailed);
}

/** Sets whether original files that cannot be de-identified may be downloaded. */
export function setDatasetIdentifiable(dataset: string, isAllowed: boolean): Promise<ActionResult> {
  const called = call(updateDataset, { body: { dataset, identifiable_originals: isAllowed } });
  return change(called, isAllowed ? texts.identifiableOn : texts.identifiableOff, texts.datasetFailed);
}

/** @param withDownload whether the person may download original files, too */
export function grant(dataset: string, uid: string, withDownload = false): Promise<ActionResult> {
  const body = { dataset, uid, ...(withDownload && { download: true }) };
  return change(call(grantDataset, { body }), texts.granted, texts.grantFailed);
}

/** Sets whether a person may download original files; this permission includes access to the dataset. */
export function setDownload(dataset: string, uid: string, isAllowed: boolean): Promise<ActionResult> {
  const called = call(grantDataset, { body: { dataset, uid, download: isAllowed } });
  return change(called, isAllowed ? texts.downloadOn : texts.downloadOff, texts.downloadFailed);
}

export function revoke(dataset: string, uid: string): Promise<ActionResult> {
  return change(call(revokeDataset, { query: { dataset, uid } }), texts.revoked, texts.revokeFailed);
}

/** Answers an access request. @param reason shown to the person; may be empty */
export function answerRequest(requestId: string, granted: boolean, reason: string): Promise<ActionResult> {
  const body = { granted, ...(reason && { reason }) };
  const called = call(answerDatasetRequest, { params: { requestId }, body });
  return change(called, granted ? texts.requestGranted : texts.requestRefused, texts.answerFailed);
}

/** Returns the result of a call. Reloads the lists also after a failure, because another administrator may have been faster. */
async function change(called: Promise<unknown>, done: string, failed: string): Promise<ActionResult> {
  try {
    await called;
    return { success: true, message: done };
  } catch (error) {
    return { success: false, message: messageOf(error, failed), error: codeOf(error) };
  } finally {
    invalidateWaiting();
    invalidateUsers();
    await queryClient.invalidateQueries({ queryKey: datasetsKey });
  }
}

/** Returns restricted datasets that the user may request, with the state of the request. */
export function useRequestableDatasets() {
  return useQuery({
    queryKey: requestableKey,
    queryFn: async ({ signal }): Promise<readonly RequestableDataset[]> =>
      (await call(listRequestableDatasets, { signal })).datasets,
    refetchInterval: pollMs,
    refetchOnWindowFocus: 'always',
  });
}

/** Requests access to a dataset. @returns null when the request was sent, else the error message */
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
