import { act, renderHook } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useIncompleteHalves } from './use-incomplete-halves.ts';

it('useIncompleteHalves does not render the viewer again when an image view reports the same incompleteness a second time', () => {
  let renderings = 0;
  const { result } = renderHook(() => {
    renderings += 1;
    return useIncompleteHalves();
  });
  act(() => result.current.onIncomplete.first(null));
  expect(renderings).toBe(1);

  act(() => result.current.onIncomplete.second('failed'));
  expect(renderings).toBe(2);
  expect(result.current.incomplete).toEqual({ first: null, second: 'failed' });
});
