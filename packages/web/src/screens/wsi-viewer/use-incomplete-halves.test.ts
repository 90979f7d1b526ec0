import { act, renderHook } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useIncompleteHalves } from './use-incomplete-halves.ts';

it('useIncompleteHalves causes no further render when one side of a comparison reports again that tiles are missing', () => {
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
