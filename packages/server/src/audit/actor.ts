import type { Origin } from './audit-recorder.ts';

/** The signed-in account that sends a request. Audit events name this account. */
export interface Actor {
  readonly uid: string;
  readonly email: string;
  /** Hash of the bearer token, which identifies the sign-in. */
  readonly tokenHash: string;
  readonly origin: Origin;
}
