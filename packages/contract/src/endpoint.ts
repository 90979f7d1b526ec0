/** Types for the declarations of API endpoints. The server validates requests against a declaration, and the web app calls it. */
import type { z } from 'zod';
import type { ApiTokenScope } from './api-token-scopes.ts';
import type { ErrorCode } from './errors.ts';
import type { Language } from './languages.ts';
import type { Permission } from './permissions.ts';

/**
 * The credential that a request needs:
 * - a permission: a bearer token of an account whose role has the permission
 * - `anyone`: no credential; an Authorization header is ignored
 * - `image-session`: an image session (a short-lived credential for pixels) in the query parameter `session` or in the
 *   path; an API token only if the endpoint declares an `apiTokenScope`
 * - `reader-or-visitor`: a bearer token of an account with `catalogue.read`, or the image session of a share link in the query
 *   parameter `session`
 */
export type Access = Permission | 'anyone' | 'image-session' | 'reader-or-visitor';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A file in a request. It must be small enough to fit into memory. */
export interface Upload {
  readonly contentType: string;
  readonly maxBytes: number;
}

/** A header or a query parameter of a request in the OpenAPI document. */
export interface DocumentedParameter {
  readonly name: string;
  readonly in: 'header' | 'query';
  readonly description: string;
  /** Default: text. */
  readonly schema?: z.ZodType;
  readonly isRequired?: true;
}

/** A response in the OpenAPI document. */
export interface DocumentedResponse {
  readonly description: string;
  /** Schemas of the body by content type; null for a body that is not JSON, or that another standard describes. */
  readonly content?: Readonly<Record<string, z.ZodType | null>>;
  /** Descriptions of headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Endpoint {
  readonly method: Method;
  /** Path below the API base. Parameters are written as `:name`. */
  readonly path: string;
  /** One sentence for the API's documentation. */
  readonly summary: string;
  /** The credential or permission that a request needs. */
  readonly access: Access;
  /** Scope that an API token needs, in addition to `access` of its owner. Undefined: the server rejects API tokens with 403. */
  readonly apiTokenScope?: ApiTokenScope;
  /**
   * Language of messages and error texts in the response, unless the request chooses one with Accept-Language. Mostly English for
   * endpoints that the viewer or the dashboard calls and Turkish for others, as ACC-10 in docs/requirements.md specifies the interface
   * texts; so endpoints of one file may differ.
   */
  readonly defaultMessageLanguage: Language;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Maximum size of the JSON body, if it is larger than the default. */
  readonly maxBodyBytes?: number;
  /** The request has a file instead of a JSON body. */
  readonly upload?: Upload;
  /** The request has a part of a file instead of a JSON body. It may have any size and is never completely in memory. */
  readonly isStreamed?: true;
  /** Schema of a JSON response; a string is the content type of any other response, such as a tile or CSV; null means no content. */
  readonly response: z.ZodType | string | null;
  /** Status of a successful response. */
  readonly status: 200 | 201 | 202 | 204;
  /** Error codes of the endpoint in addition to those of access and validation (see `declaredErrors`). */
  readonly errors: readonly ErrorCode[];
  /**
   * Visitors of share links may send the request too. Set only for endpoints whose responses to visitors contain no names of files,
   * datasets or persons. If `access` is a permission, the image session of the link in the query parameter `session` replaces the
   * bearer token.
   */
  readonly allowsVisitors?: true;
  /**
   * The endpoint returns single tiles, for which a client sends many requests. The server may then reuse a check of the
   * bearer token that is up to a second old, as it does for image sessions.
   */
  readonly isTile?: true;
  /** Other origins whose scripts may read the response: `any`, or those in the setting DICOMWEB_ORIGINS. */
  readonly cors?: 'any' | 'dicomweb-origins';
  /**
   * Responses have an ETag, and the status of a response is 304, without a body, when the header If-None-Match of the request contains
   * its ETag. The OpenAPI document states this for each such endpoint.
   */
  readonly hasEtag?: true;
  /** What the OpenAPI document states in addition to the other fields. It has no effect on requests. */
  readonly documented?: {
    readonly parameters?: readonly DocumentedParameter[];
    /** The successful responses by status, instead of the one that `status` and `response` describe. */
    readonly responses?: Readonly<Record<number, DocumentedResponse>>;
  };
  /** When the sign-in is older than 15 minutes, the body must contain the current password; otherwise the error is `reauth_required`. */
  readonly needsFreshSignIn?: true;
}

/** The names of the parameters in a path: `imageId` and `tile` for `/images/:imageId/:tile`. */
type PathParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The path parameters of an endpoint. They are always text; the response to an unknown or malformed id is 404. */
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
