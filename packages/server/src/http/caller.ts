/** Types of the sender of an accepted request. */
import type { User } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import type { ResolvedApiToken } from '../sessions/api-token-service.ts';

/** An account with a valid bearer token and the permission that the endpoint requires. */
export interface Caller {
  /** The account; if the API token is limited to datasets, also with this limit (`Reader` in domain/dataset-access.ts). */
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date;
  /** The API token of the request; undefined when it has the token of a sign-in. */
  readonly apiToken?: ResolvedApiToken['apiToken'];
}

/** The credential of an accepted request; null for endpoints that anyone may call. */
export type Credential = Caller | ImageSession | null;
