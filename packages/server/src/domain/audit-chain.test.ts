import { describe, expect, it } from 'vitest';
import {
  type ChainedEntry,
  type ChainPosition,
  chainHash,
  chainStart,
  verifyChainLinks,
} from './audit-chain.ts';

const start: ChainPosition = { seq: 0, hash: chainStart };

/** Returns an intact chain of sign-in events, numbered from 1. */
function chainOf(length: number): ChainedEntry[] {
  return chainWithNumbers(Array.from({ length }, (_, i) => i + 1));
}

/** Returns a chain of sign-in events with these numbers, whose hashes are right. */
function chainWithNumbers(numbers: readonly number[]): ChainedEntry[] {
  const entries: ChainedEntry[] = [];
  let previous_hash = chainStart;
  for (const seq of numbers) {
    const fields = {
      seq,
      at: '2026-05-01T00:00:00.000Z',
      action: 'sign-in',
      result: 'done',
      actor_uid: `uid-${seq}`,
      target: null,
      detail: '{}',
      address: '127.0.0.1',
      request_id: null,
    };
    const hash = chainHash(previous_hash, fields);
    entries.push({ ...fields, previous_hash, hash });
    previous_hash = hash;
  }
  return entries;
}

describe('verifyChainLinks (checks the hash chain of the audit log)', () => {
  it('returns the number and the hash of the last entry of an intact chain', () => {
    const entries = chainOf(5);
    expect(verifyChainLinks(start, entries)).toEqual({ seq: 5, hash: entries[4]?.hash });
  });

  it('returns the same result for a chain that is checked in two parts as for the whole chain', () => {
    const entries = chainOf(5);
    const middle = verifyChainLinks(start, entries.slice(0, 2)) as ChainPosition;
    expect(verifyChainLinks(middle, entries.slice(2))).toEqual(verifyChainLinks(start, entries));
  });

  it.each([
    ['seq', 30],
    ['at', '2026-05-02T00:00:00.000Z'],
    ['action', 'sign-out'],
    ['result', 'refused'],
    ['actor_uid', 'another-uid'],
    ['target', ''],
    ['detail', '{ }'],
    ['address', '10.0.0.1'],
    ['request_id', 'x'],
    ['previous_hash', ''],
    ['hash', ''],
  ] as const)('returns, as brokenAt, the number of the entry whose field %s was changed', (field, value) => {
    const entries = chainOf(5).map((entry) => (entry.seq === 3 ? { ...entry, [field]: value } : entry));
    expect(verifyChainLinks(start, entries)).toEqual({ brokenAt: 3 });
  });

  it('returns, as brokenAt, the number of the entry after a changed entry whose hash was recomputed', () => {
    const entries = chainOf(5);
    const changed = { ...(entries[2] as ChainedEntry), actor_uid: 'another-uid' };
    entries[2] = { ...changed, hash: chainHash(changed.previous_hash, changed) };
    expect(verifyChainLinks(start, entries)).toEqual({ brokenAt: 4 });
  });

  it('returns, as brokenAt, a number that a chain with right hashes leaves out', () => {
    expect(verifyChainLinks(start, chainWithNumbers([1, 2, 4, 5]))).toEqual({ brokenAt: 3 });
  });

  it.each([
    ['after an entry was removed', (entries: ChainedEntry[]) => entries.toSpliced(2, 1)],
    [
      'after two entries were swapped',
      ([a, b, c, d, e]: ChainedEntry[]) => [a, b, d, c, e] as ChainedEntry[],
    ],
    [
      'after an entry was removed and the others renumbered',
      (entries: ChainedEntry[]) => entries.toSpliced(2, 1).map((entry, i) => ({ ...entry, seq: i + 1 })),
    ],
    [
      'after an entry was duplicated',
      (entries: ChainedEntry[]) => entries.toSpliced(2, 0, entries[1] as ChainedEntry),
    ],
  ])('returns, as brokenAt, the number of the first wrong entry %s', (_, damage) => {
    expect(verifyChainLinks(start, damage(chainOf(5)))).toEqual({ brokenAt: 3 });
  });
});

describe('chainHash (hash of an audit entry)', () => {
  it('returns different hashes for the fields "sign-in" + "done" and "sign-" + "indone", and for null and "null"', () => {
    const [entry] = chainOf(1) as [ChainedEntry];
    const hashOfFields = chainHash('', { ...entry, action: 'sign-in', result: 'done' });
    const hashOfShiftedFields = chainHash('', { ...entry, action: 'sign-', result: 'indone' });
    expect(hashOfFields).not.toBe(hashOfShiftedFields);
    expect(chainHash('', { ...entry, target: null })).not.toBe(chainHash('', { ...entry, target: 'null' }));
  });
});
