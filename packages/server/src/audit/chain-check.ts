/** Verifies the hash chain of the whole audit log. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { chainStart, verifyChainLinks } from '../domain/audit-chain.ts';
import { type AuditLogEnds, findAuditLogEnds, listChainedRows } from '../store/audit.ts';
import type { Database } from '../store/database.ts';

export interface ChainCheckResult {
  readonly state: 'intact' | 'broken';
  /** Number of verified events. */
  readonly entries: number;
  /** Number of the first event that was changed, removed or moved; null when intact. */
  readonly brokenAt: number | null;
  /** Hash of the last event. A copy stored elsewhere shows later whether the whole audit log was rewritten. */
  readonly lastHash: string;
}

/** Events that are hashed before the event loop gets control: some milliseconds. */
const chunkSize = 500;

/** @throws when the database is unavailable or the signal is aborted */
export async function checkChain(db: Database, signal?: AbortSignal): Promise<ChainCheckResult> {
  for (;;) {
    const ends = await findAuditLogEnds(db);
    const result = await checkBetween(db, ends, signal);
    // A pruning during the verification removed rows; verify again.
    if (result.state === 'intact' || (await findAuditLogEnds(db)).before.seq === ends.before.seq)
      return result;
  }
}

async function checkBetween(
  db: Database,
  { before, last }: AuditLogEnds,
  signal: AbortSignal | undefined,
): Promise<ChainCheckResult> {
  let place = before;
  /** Start of the audit log according to its last pruning event. */
  let beginning = JSON.stringify([0, chainStart]);
  const result = (brokenAt: number | null): ChainCheckResult => ({
    state: brokenAt === null ? 'intact' : 'broken',
    entries: (brokenAt === null ? place.seq : brokenAt - 1) - before.seq,
    brokenAt,
    lastHash: last.hash,
  });
  while (place.seq < last.seq) {
    signal?.throwIfAborted();
    const rows = await listChainedRows(db, place.seq, Math.min(chunkSize, last.seq - place.seq));
    if (rows.length === 0) return result(place.seq + 1);
    const end = verifyChainLinks(place, rows);
    if ('brokenAt' in end) return result(end.brokenAt);
    for (const { action, detail } of rows) {
      if (action !== 'audit-pruned') continue;
      const { before_seq, before_hash } = JSON.parse(detail) as Record<string, unknown>;
      beginning = JSON.stringify([before_seq, before_hash]);
    }
    place = end;
    await yieldToEventLoop();
  }
  if (place.hash !== last.hash) return result(last.seq);
  // Events at the start may be missing only if a pruning event says so.
  if (beginning !== JSON.stringify([before.seq, before.hash])) return result(before.seq + 1);
  return result(null);
}
