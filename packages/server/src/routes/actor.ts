import type { Actor } from '../audit/actor.ts';
import type { Origin } from '../audit/audit-recorder.ts';
import type { Caller } from '../http/caller.ts';

/** Returns the account, the sign-in and the origin of a request, which services need for audit events. */
export function actorOf({ caller, origin }: { readonly caller: Caller; readonly origin: Origin }): Actor {
  return { uid: caller.user.uid, email: caller.user.email, tokenHash: caller.tokenHash, origin };
}
