import { describe, expect, it } from 'vitest';
import { createRefusalAllowance } from './refusal-allowance.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 9, minute));

describe('refusals of one address', () => {
  it('have entries of their own up to twenty in a minute; the rest is told together', () => {
    const allowance = createRefusalAllowance();
    const own = Array.from({ length: 50 }, () => allowance.take('10.0.0.1', 'sign-in', at(0)));
    expect(own.filter(Boolean)).toHaveLength(20);
    expect(own.slice(0, 20).every(Boolean)).toBe(true);
    expect(allowance.due(at(0))).toEqual([]);
    expect(allowance.due(at(1))).toEqual([{ address: '10.0.0.1', count: 30, kinds: [['sign-in', 30]] }]);
    expect(allowance.due(at(1))).toEqual([]);
  });

  it('begin anew with every minute', () => {
    const allowance = createRefusalAllowance();
    for (let i = 0; i < 21; i++) allowance.take('10.0.0.1', 'sign-in', at(0));
    expect(allowance.take('10.0.0.1', 'sign-in', at(1))).toBe(true);
    expect(allowance.due(at(1))).toMatchObject([{ count: 1 }]);
  });

  it('do not use up what another address may write', () => {
    const allowance = createRefusalAllowance();
    for (let i = 0; i < 100; i++) allowance.take('10.0.0.1', 'sign-in', at(0));
    expect(allowance.take('10.0.0.2', 'sign-in', at(0))).toBe(true);
  });

  it('have five entries where they happen to anybody whose sign-in has ended', () => {
    const allowance = createRefusalAllowance();
    const own = Array.from({ length: 20 }, () => allowance.take('10.0.0.1', 'expired', at(0), true));
    expect(own.filter(Boolean)).toHaveLength(5);
    expect(allowance.take('10.0.0.1', 'sign-in', at(0))).toBe(true);
  });

  it('are told by their kinds, the most frequent first', () => {
    const allowance = createRefusalAllowance();
    for (let i = 0; i < 20; i++) allowance.take('10.0.0.1', 'sign-in', at(0));
    for (const kind of ['a', 'b', 'b']) allowance.take('10.0.0.1', kind, at(0));
    expect(allowance.rest()).toMatchObject([
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

describe('refusals of very many addresses', () => {
  it('have 120 entries of their own in a minute and 1,200 in an hour, and one together', () => {
    const allowance = createRefusalAllowance();
    let own = 0;
    for (let i = 0; i < 5000; i++) if (allowance.take(`address-${i}`, 'sign-in', at(0))) own++;
    expect(own).toBe(120);
    expect(allowance.due(at(1))).toEqual([{ address: null, count: 4880, kinds: [['sign-in', 4880]] }]);
    for (let minute = 1; minute < 60; minute++) {
      for (let i = 0; i < 200; i++) if (allowance.take(`address-${i}`, 'sign-in', at(minute))) own++;
    }
    expect(own).toBe(1200);
    expect(allowance.take('10.0.0.1', 'sign-in', at(60))).toBe(true);
  });
});
