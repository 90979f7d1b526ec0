import { fireEvent, renderHook } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useSpaceHeld } from './use-space-held.ts';

it('useSpaceHeld reports that the space bar is held until the user releases it or the window loses the focus', () => {
  const { result } = renderHook(useSpaceHeld);
  const isSpaceHeld = result.current;
  const states = [
    () => fireEvent.keyDown(document, { key: 'a' }),
    () => fireEvent.keyDown(document, { key: ' ' }),
    () => fireEvent.keyUp(document, { key: ' ' }),
    () => fireEvent.keyDown(document, { key: ' ' }),
    () => fireEvent.blur(window),
  ].map((act) => {
    act();
    return isSpaceHeld();
  });
  expect(states).toEqual([false, true, false, true, false]);
});
