import { act, renderHook } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useIncompleteHalves } from './use-incomplete-halves.ts';

it('useIncompleteHalves (why each of two compared views is not sharp) causes no render when a view reports the same reason again', () => {
  let renderings = 0;
  const { result } = renderHook(() => {
    renderings += 1;
    return useIncompleteHalves();
  });
  act(() => result.current.onIncomplete.first(null)); // null is the initial state
  expect(renderings).toBe(1);

  act(() => result.current.onIncomplete.second('failed'));
  expect(renderings).toBe(2);
  expect(result.current.incomplete).toEqual({ first: null, second: 'failed' });
});
