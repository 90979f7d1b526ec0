/** Verifies the hash chain of the whole audit log: each event contains a hash of its contents and of the previous hash. */
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

/** Events that are hashed, in a few milliseconds, before other work of the process gets its turn. */
const chunkSize = 500;

/** Verifies all events that the audit log has now. @throws the errors of the database, and the reason of an aborted signal */
export async function checkChain(db: Database, signal?: AbortSignal): Promise<ChainCheckResult> {
  for (;;) {
    const ends = await findAuditLogEnds(db);
    const result = await checkBetween(db, ends, signal);
    // A deletion of old events during the verification may break the result. The loop then verifies again.
    if (result.state === 'intact' || (await findAuditLogEnds(db)).before.seq === ends.before.seq)
      return result;
  }
}

/** Verifies the events after the position `before` (the last pruned event) up to the event `last`. */
async function checkBetween(
  db: Database,
  { before, last }: AuditLogEnds,
  signal: AbortSignal | undefined,
): Promise<ChainCheckResult> {
  let position = before;
  /** Number and hash of the last deleted event according to the newest pruning event, as JSON. Initially: nothing was deleted. */
  let recordedStart = JSON.stringify([0, chainStart]);
  const resultWith = (brokenAt: number | null): ChainCheckResult => ({
    state: brokenAt === null ? 'intact' : 'broken',
    entries: (brokenAt === null ? position.seq : brokenAt - 1) - before.seq,
    brokenAt,
    lastHash: last.hash,
  });
  while (position.seq < last.seq) {
    signal?.throwIfAborted();
    const rows = await listChainedRows(db, position.seq, Math.min(chunkSize, last.seq - position.seq));
    if (rows.length === 0) return resultWith(position.seq + 1);
    const verified = verifyChainLinks(position, rows);
    if ('brokenAt' in verified) return resultWith(verified.brokenAt);
    for (const { action, detail } of rows) {
      if (action !== 'audit-pruned') continue;
      const { before_seq, before_hash } = JSON.parse(detail) as Record<string, unknown>;
      recordedStart = JSON.stringify([before_seq, before_hash]);
    }
    position = verified;
    await yieldToEventLoop();
  }
  if (position.hash !== last.hash) return resultWith(last.seq);
  // Events at the start may be missing only if a pruning event states that they were deleted.
  if (recordedStart !== JSON.stringify([before.seq, before.hash])) return resultWith(before.seq + 1);
  return resultWith(null);
}
