/** Share links: made and ended by people with an account, opened by visitors without one. */
import {
  type BodyInputOf,
  createShareLink,
  type ErrorCode,
  endShareLink,
  getDescriptor,
  listShareLinks,
  openShareLink,
  type ResponseOf,
  type ShareLink,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { addressOf, call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

export type OpenedLink = ResponseOf<typeof openShareLink>;
export type NewShareLink = BodyInputOf<typeof createShareLink>;

const linksKey = ['share-links'];

/** Own links; for an administrator all of them. Newest first. */
export function useShareLinks() {
  return useQuery({
    queryKey: linksKey,
    queryFn: async ({ signal }): Promise<readonly ShareLink[]> =>
      (await call(listShareLinks, { signal })).share_links,
  });
}

/** @returns the address of the new link, or why there is none */
export async function makeShareLink(
  wanted: NewShareLink,
): Promise<{ readonly url: string } | { readonly error: string }> {
  try {
    return { url: (await call(createShareLink, { body: wanted })).url };
  } catch (error) {
    return { error: messageOf(error, texts.shareFailed) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: linksKey });
  }
}

export async function endLink(linkId: string): Promise<ActionResult> {
  try {
    await call(endShareLink, { params: { linkId } });
    return { success: true, message: texts.linkEnded };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.linkNotEnded), error: codeOf(error) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: linksKey });
  }
}

type Opening = Promise<OpenedLink | { readonly error: ErrorCode | null; readonly message: string }>;

let expected: { readonly secret: string; readonly opening: Opening } | null = null;

/** Opens a link whose page is loading; the page takes the result with its first `openLink`. */
export function expectLink(secret: string): void {
  expected = { secret, opening: requestLink(secret, undefined) };
}

/** @param password undefined: none was typed */
export function openLink(secret: string, password: string | undefined): Opening {
  const opening = expected?.secret === secret && password === undefined ? expected.opening : null;
  expected = null;
  return opening ?? requestLink(secret, password);
}

async function requestLink(secret: string, password: string | undefined): Opening {
  try {
    return await call(openShareLink, { body: { secret, ...(password !== undefined && { password }) } });
  } catch (error) {
    return { error: codeOf(error), message: messageOf(error, texts.linkFailed) };
  }
}

/** Asks whether a slide of an opened link can still be viewed. @returns the status; null without a response */
export async function statusOfShared(imageId: string, session: string): Promise<number | null> {
  try {
    const address = addressOf(getDescriptor, { imageId }, { session });
    // The browser's cache has the descriptor and would answer for a link that has ended.
    const { status } = await fetch(address, { method: 'HEAD', cache: 'no-store' });
    return status;
  } catch {
    return null;
  }
}
