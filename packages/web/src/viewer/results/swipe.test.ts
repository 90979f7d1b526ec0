import { describe, expect, it } from 'vitest';
import { clipOf, placeAfterKey, placeOfPointer } from './swipe.ts';

describe('the divider between two compared layers', () => {
  it('shows one layer on its left and the other one on its right', () => {
    expect(clipOf('left', 0.3)).toBe('inset(0 70% 0 0)');
    expect(clipOf('right', 0.3)).toBe('inset(0 0 0 30%)');
    expect([clipOf('left', 1), clipOf('right', 0)]).toEqual(['inset(0 0% 0 0)', 'inset(0 0 0 0%)']);
  });

  it('follows the pointer within the view', () => {
    const view = { left: 100, width: 400 };
    expect([50, 100, 200, 500, 900].map((x) => placeOfPointer(x, view))).toEqual([0, 0, 0.25, 1, 1]);
    expect(placeOfPointer(10, { left: 0, width: 0 })).toBe(0.5);
  });

  it('moves with the keyboard up to both ends of the view', () => {
    expect(placeAfterKey(0.5, 'ArrowRight')).toBe(0.52);
    expect(placeAfterKey(0.01, 'ArrowLeft')).toBe(0);
    expect(placeAfterKey(0.95, 'PageUp')).toBe(1);
    expect([placeAfterKey(0.5, 'Home'), placeAfterKey(0.5, 'End')]).toEqual([0, 1]);
    expect(placeAfterKey(0.5, 'a')).toBeNull();
  });
});
