import { describe, expect, it } from 'vitest';
import { createRefusalLogLimit } from './refusal-log-limit.ts';

const at = (minute: number, second = 0) => new Date(Date.UTC(2026, 4, 1, 9, minute, second));
const anonymous = { actor: null, network: '10.0.0.1' };
const viewer = { actor: 'viewer', network: '10.0.0.1' };

describe('createRefusalLogLimit (limit of audit entries about rejected requests) for one account or network', () => {
  it('allows one audit entry per kind of rejection and minute, and one summary of the repetitions', () => {
    const limit = createRefusalLogLimit();
    const allowed = Array.from({ length: 400 }, (_, i) =>
      limit.count(viewer, 'forbidden', at(0, Math.floor(i / 10))),
    );
    expect(allowed.filter(Boolean)).toHaveLength(1);
    expect(allowed[0]).toBe(true);
    expect(limit.takeEndedSummaries(at(0, 59))).toEqual([]);
    expect(limit.takeEndedSummaries(at(1))).toEqual([
      { ...viewer, count: 399, kinds: [['forbidden', 399]], first: at(0), last: at(0, 39) },
    ]);
    expect(limit.takeEndedSummaries(at(1))).toEqual([]);
  });

  it('allows a new audit entry for the same kind of rejection in every minute', () => {
    const limit = createRefusalLogLimit();
    for (let i = 0; i < 2; i++) limit.count(anonymous, 'sign-in', at(0));
    expect(limit.count(anonymous, 'sign-in', at(1))).toBe(true);
    expect(limit.takeEndedSummaries(at(1))).toMatchObject([{ count: 1 }]);
  });

  it('allows an entry about an account even after the network of the account has reached its limit', () => {
    const limit = createRefusalLogLimit();
    for (let i = 0; i < 100; i++) limit.count(anonymous, 'sign-in', at(0), `${i}`);
    expect(limit.count(viewer, 'sign-in', at(0))).toBe(true);
    expect(limit.count({ actor: null, network: '10.0.0.2' }, 'sign-in', at(0))).toBe(true);
  });

  it('allows one audit entry per target of the rejected requests, up to twenty in a minute', () => {
    const limit = createRefusalLogLimit();
    const allowed = Array.from({ length: 50 }, (_, i) => limit.count(anonymous, 'sign-in', at(0), `${i}`));
    expect(allowed.slice(0, 20).every(Boolean)).toBe(true);
    expect(allowed.slice(20).some(Boolean)).toBe(false);
    expect(limit.takeAllSummaries()).toMatchObject([{ count: 30, kinds: [['sign-in', 30]] }]);
  });

  it('returns a summary that lists the kinds of rejections, the most frequent first', () => {
    const limit = createRefusalLogLimit();
    for (const kind of ['a', 'a', 'b', 'b', 'b']) limit.count(anonymous, kind, at(0));
    expect(limit.takeAllSummaries()).toMatchObject([
      {
        count: 3,
        kinds: [
          ['b', 2],
          ['a', 1],
        ],
      },
    ]);
  });

  it('returns a summary in which the kinds after the first fifty are counted together', () => {
    const limit = createRefusalLogLimit();
    // The first twenty refusals get entries of their own.
    for (let i = 0; i < 20; i++) limit.count(anonymous, 'sign-in', at(0), `${i}`);
    for (let i = 0; i < 60; i++) limit.count(anonymous, `kind-${i}`, at(0));
    limit.count(anonymous, 'kind-0', at(0));
    const [summary] = limit.takeAllSummaries();
    expect(summary?.kinds).toHaveLength(51);
    expect(summary?.kinds.slice(0, 2)).toEqual([
      ['else', 10],
      ['kind-0', 2],
    ]);
    expect(summary?.count).toBe(61);
  });
});

describe('createRefusalLogLimit (limit of audit entries about rejected requests) for many networks', () => {
  /** Counts two refusals of a network: the first one, at second 0, gets an entry, and the second one does not. */
  const refuseTwice = (limit: ReturnType<typeof createRefusalLogLimit>, network: string, second: number) => {
    for (const each of [0, second]) limit.count({ actor: null, network }, 'sign-in', at(0, each));
  };

  it('returns a summary of the rejections without an entry for each of five networks', () => {
    const limit = createRefusalLogLimit();
    for (let i = 1; i <= 5; i++) refuseTwice(limit, `network-${i}`, i);
    expect(limit.takeAllSummaries()).toEqual(
      [1, 2, 3, 4, 5].map((i) => ({
        actor: null,
        network: `network-${i}`,
        count: 1,
        kinds: [['sign-in', 1]],
        first: at(0, i),
        last: at(0, i),
      })),
    );
  });

  it('returns one common summary for six networks, with the times of the first and the last rejection', () => {
    const limit = createRefusalLogLimit();
    for (const second of [3, 1, 2, 6, 5, 4]) refuseTwice(limit, `network-${second}`, second);
    expect(limit.takeAllSummaries()).toEqual([
      { actor: null, network: null, count: 6, kinds: [['sign-in', 6]], first: at(0, 1), last: at(0, 6) },
    ]);
  });

  it('returns the summary of one network if all rejections of ten others got entries', () => {
    const limit = createRefusalLogLimit();
    for (let i = 0; i < 10; i++) limit.count({ actor: null, network: `other-${i}` }, 'sign-in', at(0));
    refuseTwice(limit, '10.0.0.1', 0);
    expect(limit.takeAllSummaries()).toMatchObject([{ ...anonymous, count: 1 }]);
  });

  it('allows 120 audit entries in a minute and 1,200 in an hour, and one summary of all further rejections', () => {
    const limit = createRefusalLogLimit();
    const countRefusal = (i: number, minute: number) =>
      limit.count({ actor: null, network: `network-${i}` }, 'sign-in', at(minute));
    let allowedCount = 0;
    for (let i = 0; i < 5000; i++) if (countRefusal(i, 0)) allowedCount++;
    expect(allowedCount).toBe(120);
    expect(limit.takeEndedSummaries(at(1))).toMatchObject([
      { actor: null, network: null, count: 4880, kinds: [['sign-in', 4880]] }, // 5,000 - 120
    ]);
    for (let minute = 1; minute < 60; minute++) {
      for (let i = 0; i < 200; i++) if (countRefusal(i, minute)) allowedCount++;
    }
    expect(allowedCount).toBe(1200);
    expect(countRefusal(0, 60)).toBe(true);
  });
});
