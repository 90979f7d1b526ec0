/**
 * API calls for saved views, collections (shareable lists of slides and views), and the answers to their questions. A
 * function that returns an `ActionResult` never throws: the result says whether the call succeeded, with a message for
 * the user.
 */
import {
  answerQuestion,
  type BodyInputOf,
  type Collection,
  type CollectionAnswer,
  createCollection,
  createSavedView,
  deleteCollection,
  deleteSavedView,
  getCollection,
  listAnswers,
  listCollections,
  listSavedViews,
  type ResponseOf,
  type SavedView,
  updateCollection,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, download, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts, imageTexts as viewerTexts } from './texts.ts';

export type NewSavedView = BodyInputOf<typeof createSavedView>;
export type CollectionChanges = BodyInputOf<typeof updateCollection>;
export type AnswerResult = ResponseOf<typeof answerQuestion>;

const collectionsKey = ['collections'];
const viewsKey = ['saved-views'];
const answersKey = (collectionId: string) => [...collectionsKey, collectionId, 'answers'];
/** Polling interval of the answers while their table is open. */
const answersPollMs = 5000;

/** Loads the collections that the account owns or may read, most recently changed first. */
export function useCollections() {
  return useQuery({
    queryKey: [...collectionsKey, 'list'],
    queryFn: async ({ signal }): Promise<readonly Collection[]> =>
      (await call(listCollections, { query: {}, signal })).collections,
  });
}

export function useCollection(collectionId: string) {
  return useQuery({
    queryKey: [...collectionsKey, collectionId],
    queryFn: ({ signal }): Promise<Collection> =>
      call(getCollection, { params: { collectionId }, query: {}, signal }),
  });
}

/** Loads the account's saved views, most recently changed first. */
export function useSavedViews({ isEnabled = true } = {}) {
  return useQuery({
    queryKey: viewsKey,
    queryFn: async ({ signal }): Promise<readonly SavedView[]> =>
      (await call(listSavedViews, { signal })).saved_views,
    enabled: isEnabled,
  });
}

export function addView(view: NewSavedView): Promise<ActionResult> {
  return runAndRefetch(viewsKey, viewerTexts.viewSaved, viewerTexts.viewFailed, () =>
    call(createSavedView, { body: view }),
  );
}

export function removeView(viewId: string): Promise<ActionResult> {
  return runAndRefetch(viewsKey, texts.viewDeleted, texts.viewNotDeleted, () =>
    call(deleteSavedView, { params: { viewId } }),
  );
}

/** Creates an empty collection. @returns the collection, or a message for the user */
export async function addCollection(title: string): Promise<Collection | { readonly error: string }> {
  try {
    return await call(createCollection, { body: { title } });
  } catch (error) {
    return { error: messageOf(error, texts.collectionFailed) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: collectionsKey });
  }
}

export function changeCollection(collectionId: string, changes: CollectionChanges): Promise<ActionResult> {
  return runAndRefetch(collectionsKey, texts.collectionSaved, texts.collectionFailed, () =>
    call(updateCollection, { params: { collectionId }, body: changes }),
  );
}

export function removeCollection(collectionId: string): Promise<ActionResult> {
  return runAndRefetch(collectionsKey, texts.collectionDeleted, texts.collectionNotDeleted, () =>
    call(deleteCollection, { params: { collectionId } }),
  );
}

/** Runs a request, reloads the queries with this key, and returns the result. */
async function runAndRefetch(
  queryKey: readonly string[],
  successMessage: string,
  failureMessage: string,
  request: () => Promise<unknown>,
): Promise<ActionResult> {
  try {
    await request();
    return { success: true, message: successMessage };
  } catch (error) {
    return { success: false, message: messageOf(error, failureMessage), error: codeOf(error) };
  } finally {
    await queryClient.invalidateQueries({ queryKey });
  }
}

/** Loads the answers to the questions of a collection that the account owns, and polls them while the page is visible. */
export function useAnswers(collectionId: string) {
  return useQuery({
    queryKey: answersKey(collectionId),
    queryFn: async ({ signal }): Promise<readonly CollectionAnswer[]> =>
      (await call(listAnswers, { params: { collectionId }, query: {}, signal })).answers,
    refetchInterval: answersPollMs,
  });
}

/** Returns the answers as CSV. @throws like `call` */
export function downloadAnswers(collectionId: string): Promise<Blob> {
  return download(listAnswers, { params: { collectionId }, query: { format: 'csv' } });
}

/**
 * Sends an answer as the signed-in account or as a visitor of a share link.
 *
 * @param session image session (credential of a visitor) of the share link; null for an account
 * @returns the result of the answer, or a message for the user
 */
export async function sendAnswer(
  collectionId: string,
  body: BodyInputOf<typeof answerQuestion>,
  session: string | null,
): Promise<AnswerResult | { readonly error: string }> {
  try {
    return await call(answerQuestion, {
      params: { collectionId },
      query: session === null ? {} : { session },
      body,
    });
  } catch (error) {
    return { error: messageOf(error, texts.quizAnswerFailed) };
  }
}
