/**
 * The hash chain of the audit log: each entry contains the hash of its fields and of the previous entry's hash, so that
 * a changed, removed, inserted or moved entry breaks the chain.
 */
import { hash } from 'node:crypto';

/** The hashed fields of an entry, named as their columns. `chainHash` hashes them in this order. `address`: IP address of the client. */
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

/** The value of `previous_hash` in the first entry. */
export const chainStart = '';

/**
 * Returns the SHA-256 (base64url) of the previous hash and the fields of an entry, joined as a JSON array: two
 * different lists of values never give the same JSON text.
 */
export function chainHash(previousHash: string, entry: ChainedFields): string {
  const fields = [
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
  return hash('sha256', JSON.stringify(fields), 'base64url');
}

/** A position in the chain: the next entry has the number `seq + 1` and the previous hash `hash`. */
export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

/**
 * Verifies consecutive entries.
 *
 * @param start position before the first of these entries
 * @returns the position after the last entry, or the number of the first wrong or missing entry
 */
export function verifyChainLinks(
  start: ChainPosition,
  entries: readonly ChainedEntry[],
): ChainPosition | { readonly brokenAt: number } {
  let position = start;
  for (const entry of entries) {
    const seq = position.seq + 1;
    const isLinked =
      entry.seq === seq &&
      entry.previous_hash === position.hash &&
      entry.hash === chainHash(position.hash, entry);
    if (!isLinked) return { brokenAt: seq };
    position = { seq, hash: entry.hash };
  }
  return position;
}
