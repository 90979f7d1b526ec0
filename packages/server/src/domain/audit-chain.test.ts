import { describe, expect, it } from 'vitest';
import { type ChainedEntry, type ChainPlace, chainHash, chainStart, followChain } from './audit-chain.ts';

const start: ChainPlace = { seq: 0, hash: chainStart };

function chainOf(length: number): ChainedEntry[] {
  const entries: ChainedEntry[] = [];
  let previous_hash = chainStart;
  for (let seq = 1; seq <= length; seq++) {
    const said = {
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
    const hash = chainHash(previous_hash, said);
    entries.push({ ...said, previous_hash, hash });
    previous_hash = hash;
  }
  return entries;
}

describe('a chain of entries', () => {
  it('ends with the number and the hash of its last one', () => {
    const entries = chainOf(5);
    expect(followChain(start, entries)).toEqual({ seq: 5, hash: entries[4]?.hash });
  });

  it('can be followed in pieces', () => {
    const entries = chainOf(5);
    const middle = followChain(start, entries.slice(0, 2)) as ChainPlace;
    expect(followChain(middle, entries.slice(2))).toEqual(followChain(start, entries));
  });

  it.each([
    ['seq', 30],
    ['at', '2026-05-02T00:00:00.000Z'],
    ['action', 'sign-out'],
    ['result', 'refused'],
    ['actor_uid', 'somebody-else'],
    ['target', ''],
    ['detail', '{ }'],
    ['address', '10.0.0.1'],
    ['request_id', 'x'],
    ['previous_hash', ''],
    ['hash', ''],
  ] as const)('breaks where %s was changed', (field, value) => {
    const entries = chainOf(5).map((entry) => (entry.seq === 3 ? { ...entry, [field]: value } : entry));
    expect(followChain(start, entries)).toEqual({ brokenAt: 3 });
  });

  it('breaks behind an entry that was changed together with its own hash', () => {
    const entries = chainOf(5);
    const changed = { ...(entries[2] as ChainedEntry), actor_uid: 'somebody-else' };
    entries[2] = { ...changed, hash: chainHash(changed.previous_hash, changed) };
    expect(followChain(start, entries)).toEqual({ brokenAt: 4 });
  });

  it.each([
    ['an entry was removed', (entries: ChainedEntry[]) => entries.toSpliced(2, 1)],
    ['two were exchanged', ([a, b, c, d, e]: ChainedEntry[]) => [a, b, d, c, e] as ChainedEntry[]],
    [
      'one was removed and the others numbered anew',
      (entries: ChainedEntry[]) => entries.toSpliced(2, 1).map((entry, i) => ({ ...entry, seq: i + 1 })),
    ],
    [
      'one was written twice',
      (entries: ChainedEntry[]) => entries.toSpliced(2, 0, entries[1] as ChainedEntry),
    ],
  ])('breaks where %s', (_, damage) => {
    expect(followChain(start, damage(chainOf(5)))).toEqual({ brokenAt: 3 });
  });

  it('tells apart what would read the same when written one behind the other', () => {
    const [entry] = chainOf(1) as [ChainedEntry];
    const one = chainHash('', { ...entry, action: 'sign-in', result: 'done' });
    const other = chainHash('', { ...entry, action: 'sign-', result: 'indone' });
    expect(one).not.toBe(other);
    expect(chainHash('', { ...entry, target: null })).not.toBe(chainHash('', { ...entry, target: 'null' }));
  });
});
