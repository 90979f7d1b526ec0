/** API calls for share links: users create, list and revoke them; visitors open them without an account. */
import {
  type BodyInputOf,
  createShareLink,
  type ErrorCode,
  endShareLink,
  getDescriptor,
  type Language,
  listShareLinks,
  openShareLink,
  type ResponseOf,
  type ShareLink,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, endpointUrl, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { shareFailedTexts, texts } from './texts.ts';

export type OpenedLink = ResponseOf<typeof openShareLink>;
export type NewShareLink = BodyInputOf<typeof createShareLink>;

const linksKey = ['share-links'];

/** Loads the account's share links (for administrators, those of all accounts), newest first. */
export function useShareLinks() {
  return useQuery({
    queryKey: linksKey,
    queryFn: async ({ signal }): Promise<readonly ShareLink[]> =>
      (await call(listShareLinks, { signal })).share_links,
  });
}

/**
 * Creates a share link.
 *
 * @param languageBeforeChoice language of the calling screen until the user chooses one (language/language.ts)
 * @returns its URL, or a message for the user
 */
export async function makeShareLink(
  link: NewShareLink,
  languageBeforeChoice: Language,
): Promise<{ readonly url: string } | { readonly error: string }> {
  try {
    return { url: (await call(createShareLink, { body: link, languageBeforeChoice })).url };
  } catch (error) {
    return { error: messageOf(error, shareFailedTexts[languageBeforeChoice].shareFailed) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: linksKey });
  }
}

export async function revokeShareLink(linkId: string): Promise<ActionResult> {
  try {
    await call(endShareLink, { params: { linkId } });
    return { success: true, message: texts.linkEnded };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.linkNotEnded), error: codeOf(error) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: linksKey });
  }
}

type OpenResult = OpenedLink | { readonly error: ErrorCode | null; readonly message: string };

/** The request of `preopenLink` that no call of `openLink` has used yet. */
let preopened: { readonly secret: string; readonly result: Promise<OpenResult> } | null = null;

/** Opens a link while the browser still loads the script of its page. The first `openLink` of that page uses the result. */
export function preopenLink(secret: string): void {
  preopened = { secret, result: requestLink({ secret }) }; // without a password
}

/** What a visitor presents to open a link. */
interface LinkCredentials {
  /** The part of the link's URL after `#`. */
  readonly secret: string;
  /** Undefined unless the user has typed one. */
  readonly password?: string | undefined;
  /** The session of the last opening, which the server extends without counting an opening; undefined for the first opening. */
  readonly sessionId?: string | undefined;
}

/**
 * Opens a share link, which creates or extends an image session for its slides.
 *
 * @returns the content of the link, or the error code (null if there is no response) with a message for the user
 */
export function openLink(credentials: LinkCredentials): Promise<OpenResult> {
  const { secret, password, sessionId } = credentials;
  const isPreopened = preopened?.secret === secret && password === undefined && sessionId === undefined;
  const result = isPreopened ? preopened?.result : undefined;
  preopened = null;
  return result ?? requestLink(credentials);
}

async function requestLink({ secret, password, sessionId }: LinkCredentials): Promise<OpenResult> {
  try {
    const body = {
      secret,
      ...(password !== undefined && { password }),
      ...(sessionId !== undefined && { session_id: sessionId }),
    };
    return await call(openShareLink, { body });
  } catch (error) {
    return { error: codeOf(error), message: messageOf(error, texts.linkFailed) };
  }
}

/** Checks whether a slide of an opened link can still be viewed. @returns the HTTP status; null without a response */
export async function fetchSharedSlideStatus(imageId: string, session: string): Promise<number | null> {
  try {
    const url = endpointUrl(getDescriptor, { imageId }, { session });
    // Bypasses the browser's cache, which may contain the descriptor although the link has ended.
    const { status } = await fetch(url, { method: 'HEAD', cache: 'no-store' });
    return status;
  } catch {
    return null;
  }
}
