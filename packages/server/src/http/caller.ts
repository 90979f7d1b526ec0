/** Types for the credential of an accepted request and for the account that sent it. */
import type { User } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import type { ResolvedApiToken } from '../sessions/api-token-service.ts';

/** An account with a valid bearer token. A handler runs only if the account has the permission that the endpoint requires. */
export interface Caller {
  /** The account. If the API token is limited to datasets, the object also contains them (`Reader` in domain/dataset-access.ts). */
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date; // for an API token, the time of its creation
  /** The API token of the request; undefined when the bearer token belongs to a sign-in. */
  readonly apiToken?: ResolvedApiToken['apiToken'];
}

/** An account (the credential has the property `user`), an image session (for pixels), or null for endpoints that anyone may call. */
export type Credential = Caller | ImageSession | null;
