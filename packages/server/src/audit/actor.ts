import type { Origin } from './audit-recorder.ts';

/** The account behind a call, and the origin of the call. */
export interface Actor {
  readonly uid: string;
  readonly email: string;
  /** Identifies the sign-in that was used. */
  readonly tokenHash: string;
  readonly origin: Origin;
}
