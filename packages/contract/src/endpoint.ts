/** The declaration of an endpoint. The server uses it to validate requests, the web app to send them. */
import type { z } from 'zod';
import type { ApiTokenScope } from './api-token-scopes.ts';
import type { ErrorCode } from './errors.ts';
import type { Language } from './languages.ts';
import type { Permission } from './permissions.ts';

/**
 * Who may call:
 * - a permission: a bearer token of an account that holds it
 * - `anyone`: no credential; an Authorization header is ignored
 * - `image-session`: the `session` query parameter (pixels); an API token only where `scope` names its scope
 * - `reader-or-visitor`: a bearer token of an account with `catalogue.read`, or, as the `session` query parameter, the image
 *   session of a share link
 */
export type Access = Permission | 'anyone' | 'image-session' | 'reader-or-visitor';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A file in a request that is small enough to be held in memory. */
export interface Upload {
  readonly contentType: string;
  readonly maxBytes: number;
}

export interface Endpoint {
  readonly method: Method;
  /** Relative to the API base, parameters as `:name`. */
  readonly path: string;
  /** One sentence for the API's documentation. */
  readonly summary: string;
  readonly access: Access;
  /** Scope that opens the call to an API token whose owner has the access. Without one, API tokens get 403. */
  readonly scope?: ApiTokenScope;
  /** Language of its texts when the request chooses none. */
  readonly language: Language;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Maximum size of the JSON body where it is larger than that of other calls. */
  readonly maxBodyBytes?: number;
  /** The request has a file instead of a JSON body. */
  readonly upload?: Upload;
  /** The request has a part of a file instead of a JSON body. It may have any size and is never completely in memory. */
  readonly isStreamed?: true;
  /** Schema of the JSON response; a string is the content type of a binary response; null means no content. */
  readonly response: z.ZodType | string | null;
  /** Status of a successful response. */
  readonly status: 200 | 201 | 202 | 204;
  /** Error codes of the endpoint beyond those of access and validation: see `declaredErrors`. */
  readonly errors: readonly ErrorCode[];
  /**
   * Visitors who have opened a share link may call it, too: only what shows no name of a file, dataset or person. For
   * `image-session`; for a permission, the image session of the link is the `session` query parameter in place of a token.
   */
  readonly visitors?: true;
  /**
   * Returns single tiles, to many requests of one reader: a bearer token is accepted by its state of at most a second ago, as
   * an image session is.
   */
  readonly isTile?: true;
  /** Other origins whose scripts may read the response: `any`, or those in the setting DICOMWEB_ORIGINS. */
  readonly cors?: 'any' | 'dicomweb-origins';
  /** The server rejects the call with reauth_required when the sign-in is older than 15 minutes and the body has no current password. */
  readonly freshSignIn?: true;
}

type PathParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Path parameters are always text: the response to an unknown or malformed id is 404. */
export type ParamsOf<E extends Endpoint> = { readonly [Name in PathParamNames<E['path']>]: string };
export type QueryOf<E extends Endpoint> = E['query'] extends z.ZodObject ? z.output<E['query']> : undefined;
export type BodyOf<E extends Endpoint> = E['body'] extends z.ZodObject ? z.output<E['body']> : undefined;
/** The query as a client sends it, before defaults are filled in. */
export type QueryInputOf<E extends Endpoint> = E['query'] extends z.ZodObject
  ? z.input<E['query']>
  : undefined;
export type BodyInputOf<E extends Endpoint> = E['body'] extends z.ZodObject ? z.input<E['body']> : undefined;
export type ResponseOf<E extends Endpoint> = E['response'] extends z.ZodType
  ? z.output<E['response']>
  : undefined;

/** Returns the declaration with its literal types. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

/** Path prefix of the API. */
export const apiBase = '/api/v1';
