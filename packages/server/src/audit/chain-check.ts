/** Verifies the hash chain of the audit log: each entry contains a hash of its fields and of the previous hash. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { chainStart, verifyChainLinks } from '../domain/audit-chain.ts';
import { type AuditLogEnds, findAuditLogEnds, listChainedRows } from '../store/audit.ts';
import type { Database } from '../store/database.ts';

export interface ChainCheckResult {
  readonly state: 'intact' | 'broken';
  /** Number of intact entries: all entries, or those before `brokenAt`. */
  readonly entries: number;
  /** Number (`seq`) of the first entry that was changed, removed or moved; null when intact. */
  readonly brokenAt: number | null;
  /** Hash of the last entry. A copy stored elsewhere shows later whether the whole audit log was rewritten. */
  readonly lastEntryHash: string;
}

/** Number of entries that are verified, in a few milliseconds, before other work of the process gets its turn. */
const chunkSize = 500;

/** Verifies all entries of the audit log. @throws database errors, and the reason of an aborted signal */
export async function checkChain(db: Database, signal?: AbortSignal): Promise<ChainCheckResult> {
  for (;;) {
    const ends = await findAuditLogEnds(db);
    const result = await checkBetween(db, ends, signal);
    // Old entries may have been deleted during the verification, which then seems to fail. The loop verifies again.
    if (result.state === 'intact' || (await findAuditLogEnds(db)).lastPruned.seq === ends.lastPruned.seq)
      return result;
  }
}

/** Verifies the entries after the last pruned one up to the entry `last`. A table of its own records number and hash of both. */
async function checkBetween(
  db: Database,
  { lastPruned, last }: AuditLogEnds,
  signal: AbortSignal | undefined,
): Promise<ChainCheckResult> {
  let position = lastPruned; // number and hash of the last verified entry
  /** JSON of number and hash of the last pruned entry, as the newest `audit-pruned` entry states them. */
  let recordedStart = JSON.stringify([0, chainStart]); // the value if no entry was pruned
  const resultWith = (brokenAt: number | null): ChainCheckResult => ({
    state: brokenAt === null ? 'intact' : 'broken',
    entries: (brokenAt === null ? position.seq : brokenAt - 1) - lastPruned.seq,
    brokenAt,
    lastEntryHash: last.hash,
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
  if (position.hash !== last.hash) return resultWith(last.seq); // the last entry is not the recorded one
  // Entries at the start may be missing only if an `audit-pruned` entry states that they were deleted.
  if (recordedStart !== JSON.stringify([lastPruned.seq, lastPruned.hash]))
    return resultWith(lastPruned.seq + 1);
  return resultWith(null); // null: the chain is intact
}
