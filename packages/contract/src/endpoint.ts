/** What an endpoint is. Declared once: the server checks by it, the web app calls by it. */
import type { z } from 'zod';
import type { ErrorCode, Language } from './errors.ts';
import type { Permission } from './permissions.ts';

/**
 * Who may call:
 * - a permission: a bearer token of an account that holds it
 * - `anyone`: no credential; an Authorization header is ignored
 * - `image-session`: the `session` query parameter alone (pixels)
 */
export type Access = Permission | 'anyone' | 'image-session';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A file that is small enough to be sent, and kept in memory, whole. */
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
  /** Language of the messages it answers with. */
  readonly language: Language;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** A file in place of a JSON body. */
  readonly upload?: Upload;
  /** A part of a file in place of a JSON body: of any size, and never in memory whole. */
  readonly isStreamed?: true;
  /** JSON answer; a string is the content type of bytes; null for no content. */
  readonly response: z.ZodType | string | null;
  /** Status of a good answer. */
  readonly status: 200 | 201 | 202 | 204;
  /** What it can refuse with, beyond what access and validation refuse. */
  readonly errors: readonly ErrorCode[];
  /** Refused with reauth_required when the sign-in is older than 15 minutes and no current password comes along. */
  readonly freshSignIn?: true;
}

type PathParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Path parameters are always text: what does not exist is 404, however it is spelled. */
export type ParamsOf<E extends Endpoint> = { readonly [Name in PathParamNames<E['path']>]: string };
export type QueryOf<E extends Endpoint> = E['query'] extends z.ZodObject ? z.output<E['query']> : undefined;
export type BodyOf<E extends Endpoint> = E['body'] extends z.ZodObject ? z.output<E['body']> : undefined;
/** What a caller sends, before defaults are filled in. */
export type QueryInputOf<E extends Endpoint> = E['query'] extends z.ZodObject
  ? z.input<E['query']>
  : undefined;
export type BodyInputOf<E extends Endpoint> = E['body'] extends z.ZodObject ? z.input<E['body']> : undefined;
export type ResponseOf<E extends Endpoint> = E['response'] extends z.ZodType
  ? z.output<E['response']>
  : undefined;

/** Keeps the literal types of a declaration. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

/** Where the API begins. */
export const apiBase = '/api/v1';
