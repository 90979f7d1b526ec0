import { describe, expect, it } from 'vitest';
import { clipPathOf, dividerAfterKey, dividerAtPointer } from './swipe.ts';

describe('clipPathOf (two result layers compared with a divider)', () => {
  it('clips a layer to the part on its side of the divider', () => {
    expect(clipPathOf({ from: 0, to: 0.3 })).toBe('inset(0 70% 0 0)');
    expect(clipPathOf({ from: 0.3, to: 1 })).toBe('inset(0 0 0 30%)');
    expect(clipPathOf({ from: 0, to: 1 })).toBe('inset(0 0 0 0)');
  });
});

describe('dividerAtPointer (divider between two compared result layers)', () => {
  it('returns the position of the pointer, limited to the edges of the view', () => {
    const view = { left: 100, width: 400 };
    expect([50, 100, 200, 500, 900].map((x) => dividerAtPointer(x, view))).toEqual([0, 0, 0.25, 1, 1]);
    expect(dividerAtPointer(10, { left: 0, width: 0 })).toBe(0.5);
  });
});

describe('dividerAfterKey (divider between two compared result layers)', () => {
  it('moves the divider by arrow, Page, Home and End keys and stops it at the ends of the view', () => {
    expect(dividerAfterKey(0.5, 'ArrowRight')).toBe(0.52);
    expect(dividerAfterKey(0.01, 'ArrowLeft')).toBe(0);
    expect(dividerAfterKey(0.95, 'PageUp')).toBe(1);
    expect([dividerAfterKey(0.5, 'Home'), dividerAfterKey(0.5, 'End')]).toEqual([0, 1]);
    expect(dividerAfterKey(0.5, 'a')).toBeNull();
  });
});
