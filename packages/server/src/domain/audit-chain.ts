/**
 * The chain of hashes that holds the audit trail together: each entry carries the hash of all it says and of
 * the hash before it, so that an entry which was changed, removed, added between or moved no longer fits.
 */
import { hash } from 'node:crypto';

/** What an entry says, in the order in which it is hashed. */
export interface ChainedFields {
  readonly seq: number;
  readonly at: string;
  readonly action: string;
  readonly result: string;
  readonly actor_uid: string | null;
  readonly target: string | null;
  readonly detail: string;
  readonly address: string | null;
  readonly request_id: string | null;
}

export interface ChainedEntry extends ChainedFields {
  readonly previous_hash: string;
  readonly hash: string;
}

/** What stands before the very first entry. */
export const chainStart = '';

/** SHA-256, base64url, of a JSON array: every value has one spelling there, and none runs into the next. */
export function chainHash(previousHash: string, entry: ChainedFields): string {
  const said = [
    previousHash,
    entry.seq,
    entry.at,
    entry.action,
    entry.result,
    entry.actor_uid,
    entry.target,
    entry.detail,
    entry.address,
    entry.request_id,
  ];
  return hash('sha256', JSON.stringify(said), 'base64url');
}

/** A place in the chain: the next entry is number `seq + 1` and names `hash` as the one before it. */
export interface ChainPlace {
  readonly seq: number;
  readonly hash: string;
}

/**
 * Follow the chain over some entries, in their order.
 *
 * @returns where it ends, or the number of the first entry that does not fit: for one that is missing, its own
 */
export function followChain(
  from: ChainPlace,
  entries: readonly ChainedEntry[],
): ChainPlace | { readonly brokenAt: number } {
  let place = from;
  for (const entry of entries) {
    const seq = place.seq + 1;
    const fits =
      entry.seq === seq && entry.previous_hash === place.hash && entry.hash === chainHash(place.hash, entry);
    if (!fits) return { brokenAt: seq };
    place = { seq, hash: entry.hash };
  }
  return place;
}
