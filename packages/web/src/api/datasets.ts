/**
 * API calls for datasets: administrators change access and grants; members (all other users) request access. A function
 * that returns an `ActionResult` never throws: the result says whether the call succeeded, with a message for the user.
 */
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
import { invalidateUsers, invalidateWaitingCounts } from './users-keys.ts';

const datasetsKey = ['datasets'];
const requestableKey = ['requestable-datasets'];
const pollMs = 30_000;

/** Loads all datasets for administrators, in natural order (2 before 10), and polls them. */
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

/**
 * Opens a dataset to all members, or restricts it.
 *
 * @param isListed whether members see the name of the restricted dataset
 * @param isShared whether share links may open its slides; undefined: the server keeps the setting, but switches sharing off when
 *   it restricts an open dataset
 */
export function setDatasetAccess(
  dataset: string,
  access: DatasetAccess,
  { isListed, isShared }: { readonly isListed: boolean; readonly isShared?: boolean },
): Promise<ActionResult> {
  const successMessage = access === 'open' ? texts.datasetOpened : texts.datasetRestricted;
  return resultOf(
    call(updateDataset, { body: { dataset, access, listed: isListed, sharing: isShared } }),
    successMessage,
    texts.datasetFailed,
  );
}

/** Sets whether members see the name of a restricted dataset. */
export function setDatasetListed(dataset: string, isListed: boolean): Promise<ActionResult> {
  const request = call(updateDataset, { body: { dataset, listed: isListed } });
  return resultOf(request, isListed ? texts.datasetListed : texts.datasetUnlisted, texts.datasetFailed);
}

/** Sets whether share links may open the slides of a dataset. Does not send `access`, which another administrator may have changed. */
export function setDatasetSharing(dataset: string, isAllowed: boolean): Promise<ActionResult> {
  const request = call(updateDataset, { body: { dataset, sharing: isAllowed } });
  return resultOf(request, isAllowed ? texts.sharingOn : texts.sharingOff, texts.datasetFailed);
}

/** Sets whether users with the download permission may also download original files that cannot be de-identified. */
export function setIdentifiableDownloads(dataset: string, isAllowed: boolean): Promise<ActionResult> {
  const request = call(updateDataset, { body: { dataset, identifiable_originals: isAllowed } });
  return resultOf(request, isAllowed ? texts.identifiableOn : texts.identifiableOff, texts.datasetFailed);
}

/** Grants an account access to a dataset. @param withDownload whether the user may also download original files */
export function grantAccess(dataset: string, uid: string, withDownload = false): Promise<ActionResult> {
  const body = { dataset, uid, ...(withDownload && { download: true }) };
  return resultOf(call(grantDataset, { body }), texts.granted, texts.grantFailed);
}

/** Sets whether a user may download original files; this permission includes access to the dataset. */
export function setDownloadAllowed(dataset: string, uid: string, isAllowed: boolean): Promise<ActionResult> {
  const request = call(grantDataset, { body: { dataset, uid, download: isAllowed } });
  return resultOf(request, isAllowed ? texts.downloadOn : texts.downloadOff, texts.downloadFailed);
}

/** Revokes an account's access to a dataset. */
export function revokeAccess(dataset: string, uid: string): Promise<ActionResult> {
  return resultOf(call(revokeDataset, { query: { dataset, uid } }), texts.revoked, texts.revokeFailed);
}

/** Grants or rejects an access request. @param reason shown to the user who made the request; may be empty */
export function answerAccessRequest(
  requestId: string,
  isGranted: boolean,
  reason: string,
): Promise<ActionResult> {
  const body = { granted: isGranted, ...(reason && { reason }) };
  const request = call(answerDatasetRequest, { params: { requestId }, body });
  return resultOf(request, isGranted ? texts.requestGranted : texts.requestRefused, texts.answerFailed);
}

/** Returns the result of a request. Reloads the lists even after a failure: another administrator may have changed the dataset. */
async function resultOf(
  request: Promise<unknown>,
  successMessage: string,
  failureMessage: string,
): Promise<ActionResult> {
  try {
    await request;
    return { success: true, message: successMessage };
  } catch (error) {
    return { success: false, message: messageOf(error, failureMessage), error: codeOf(error) };
  } finally {
    invalidateWaitingCounts();
    invalidateUsers();
    await queryClient.invalidateQueries({ queryKey: datasetsKey });
  }
}

/** Loads the restricted datasets to which the user may request access, each with the state of an existing request. */
export function useRequestableDatasets() {
  return useQuery({
    queryKey: requestableKey,
    queryFn: async ({ signal }): Promise<readonly RequestableDataset[]> =>
      (await call(listRequestableDatasets, { signal })).datasets,
    refetchInterval: pollMs,
    refetchOnWindowFocus: 'always',
  });
}

/** Requests access to a dataset. @returns null when the request was sent, otherwise a message for the user */
export async function requestDatasetAccess(dataset: string, reason: string): Promise<string | null> {
  try {
    await call(requestDataset, { body: { dataset, reason } });
    return null;
  } catch (error) {
    return messageOf(error, imageTexts.requestFailed);
  } finally {
    await queryClient.invalidateQueries({ queryKey: requestableKey });
  }
}
