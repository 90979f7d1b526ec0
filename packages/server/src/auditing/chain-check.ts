/** Goes through the whole audit trail and says whether its chain of hashes is intact. */
import { setImmediate as otherWorkFirst } from 'node:timers/promises';
import { chainStart, followChain } from '../domain/audit-chain.ts';
import { findTrailEnds, listChainedRows, type TrailEnds } from '../store/audit.ts';
import type { Database } from '../store/database.ts';

export interface ChainFinding {
  readonly state: 'intact' | 'broken';
  /** Entries that were gone through and fit. */
  readonly entries: number;
  /** The first entry that was changed, removed or moved; null when intact. */
  readonly brokenAt: number | null;
  /** Hash of the last entry. Kept elsewhere, it shows later that nobody wrote the whole trail anew. */
  readonly lastHash: string;
}

/** Entries that are hashed before other work gets its turn: some milliseconds. */
const entriesAtOnce = 500;

/** @throws when the database cannot be asked, or the signal is aborted */
export async function checkChain(db: Database, signal?: AbortSignal): Promise<ChainFinding> {
  for (;;) {
    const ends = await findTrailEnds(db);
    const finding = await checkBetween(db, ends, signal);
    // A pruning that came meanwhile took away what was about to be looked at.
    if (finding.state === 'intact' || (await findTrailEnds(db)).before.seq === ends.before.seq)
      return finding;
  }
}

async function checkBetween(
  db: Database,
  { before, last }: TrailEnds,
  signal: AbortSignal | undefined,
): Promise<ChainFinding> {
  let place = before;
  /** Where the trail begins, as its own last entry about a pruning says. */
  let beginning = JSON.stringify([0, chainStart]);
  const finding = (brokenAt: number | null): ChainFinding => ({
    state: brokenAt === null ? 'intact' : 'broken',
    entries: (brokenAt === null ? place.seq : brokenAt - 1) - before.seq,
    brokenAt,
    lastHash: last.hash,
  });
  while (place.seq < last.seq) {
    signal?.throwIfAborted();
    const rows = await listChainedRows(db, place.seq, Math.min(entriesAtOnce, last.seq - place.seq));
    if (rows.length === 0) return finding(place.seq + 1);
    const end = followChain(place, rows);
    if ('brokenAt' in end) return finding(end.brokenAt);
    for (const { action, detail } of rows) {
      if (action !== 'audit-pruned') continue;
      const { before_seq, before_hash } = JSON.parse(detail) as Record<string, unknown>;
      beginning = JSON.stringify([before_seq, before_hash]);
    }
    place = end;
    await otherWorkFirst();
  }
  if (place.hash !== last.hash) return finding(last.seq);
  // Entries at the beginning may be missing only if the trail itself says so.
  if (beginning !== JSON.stringify([before.seq, before.hash])) return finding(before.seq + 1);
  return finding(null);
}
