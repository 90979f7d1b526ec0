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
});

describe('createRefusalLogLimit (limit of audit entries about rejected requests) for many networks', () => {
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
