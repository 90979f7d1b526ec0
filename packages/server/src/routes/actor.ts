import type { Actor } from '../audit/actor.ts';
import type { Origin } from '../audit/audit-recorder.ts';
import type { Caller } from '../http/caller.ts';

/**
 * Returns the actor of a request: account, sign-in, client address and request id. Services need it for audit events, and to check
 * again that the sign-in is valid, for example within the transaction of a change. Services that need none of this get `caller.user`.
 */
export function actorOf({ caller, origin }: { readonly caller: Caller; readonly origin: Origin }): Actor {
  return { uid: caller.user.uid, email: caller.user.email, tokenHash: caller.tokenHash, origin };
}
