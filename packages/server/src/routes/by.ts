import type { By } from '../accounts.ts';
import type { Origin } from '../audit.ts';
import type { Caller } from '../http/access.ts';

/** Who is behind a call, as a service is told. */
export function byOf({ caller, origin }: { readonly caller: Caller; readonly origin: Origin }): By {
  return { uid: caller.user.uid, email: caller.user.email, tokenHash: caller.tokenHash, origin };
}
