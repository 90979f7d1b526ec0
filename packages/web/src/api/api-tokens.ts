/**
 * API calls for API tokens (credentials of programs): those of the signed-in account, and for administrators those of
 * all accounts. A function that returns an `ActionResult` never throws: the result says whether the call succeeded,
 * with a message for the user.
 */
import {
  type ApiToken,
  type BodyInputOf,
  createApiToken as createTokenEndpoint,
  deleteApiToken,
  listAllApiTokens,
  listApiTokens,
  listImageGroups,
  type OwnedApiToken,
  type ResponseOf,
  revokeApiToken,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const tokensKey = ['api-tokens'];

/** Loads the valid tokens of the signed-in account, newest first. */
export function useApiTokens() {
  return useQuery({
    queryKey: [...tokensKey, 'own'],
    queryFn: async ({ signal }): Promise<readonly ApiToken[]> =>
      (await call(listApiTokens, { signal })).tokens,
  });
}

/** Loads the valid tokens of all accounts, newest first; for administrators. */
export function useAllApiTokens() {
  return useQuery({
    queryKey: [...tokensKey, 'all'],
    queryFn: async ({ signal }): Promise<readonly OwnedApiToken[]> =>
      (await call(listAllApiTokens, { signal })).tokens,
  });
}

/** Loads the names of the datasets to which a token can be limited. */
export function useDatasetNames() {
  return useQuery({
    queryKey: [...tokensKey, 'datasets'],
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const { datasets } = await call(listImageGroups, { query: { order: 'name' }, signal });
      return datasets.flatMap(({ dataset_name: name }) => name ?? []); // omits null, the group of images without a dataset
    },
  });
}

export type CreatedApiToken = ResponseOf<typeof createTokenEndpoint>;

type CreateResult =
  | { readonly success: true; readonly created: CreatedApiToken }
  | (ActionResult & { readonly success: false });

/** Creates a token for the signed-in account. Only the response to this call contains the token's secret. */
export async function createApiToken(body: BodyInputOf<typeof createTokenEndpoint>): Promise<CreateResult> {
  try {
    return { success: true, created: await call(createTokenEndpoint, { body }) };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.apiTokenCreateFailed), error: codeOf(error) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: tokensKey });
  }
}

export function revokeOwnApiToken(tokenId: string): Promise<ActionResult> {
  return resultOfRevocation(call(deleteApiToken, { params: { tokenId } }));
}

/** Revokes a token of any account; for administrators. */
export function revokeAnyApiToken(tokenId: string): Promise<ActionResult> {
  return resultOfRevocation(call(revokeApiToken, { params: { tokenId } }));
}

/** Returns the result of a call that revokes a token, and reloads the lists. */
async function resultOfRevocation(request: Promise<unknown>): Promise<ActionResult> {
  try {
    await request;
    return { success: true, message: texts.apiTokenRevoked };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.apiTokenRevokeFailed), error: codeOf(error) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: tokensKey });
  }
}
