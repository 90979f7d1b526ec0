import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadValue } from '../../api/results.ts';
import type { SlideView } from '../slide-view.ts';
import { heatmap } from './testing/heatmap.ts';
import { texts } from './texts.ts';
import { useReadout } from './use-readout.ts';

vi.mock(import('../../api/results.ts'), async (original) => ({
  ...(await original()),
  loadValue: vi.fn<typeof loadValue>(),
}));

/** A heatmap with one value per slide pixel, from 0 to 100. */
const columnHeatmap: typeof heatmap = {
  ...heatmap,
  value_range: { min: 0, max: 100 },
  encoding: { scale: 1, offset: 0, no_data: 255 },
  registration: [1, 0, 0, 1, 0, 0],
};
const descriptorAt = () => columnHeatmap;

/** Shows a heatmap whose value is the column of the slide. The server responds at once. */
function showHeatmap() {
  const element = document.createElement('div');
  let left = 0; // the column at the left edge of the viewer
  let onMove = () => {};
  const view: Pick<SlideView, 'element' | 'placement' | 'watch'> = {
    element: () => element,
    placement: () => ({ a: 1, b: 0, c: 0, d: 1, e: -left, f: 0 }),
    watch: (listener) => {
      onMove = listener;
      return () => undefined;
    },
  };
  const load = vi.mocked(loadValue).mockReset();
  load.mockImplementation(async (_, { x }) => x);
  const { result } = renderHook(() => useReadout(view as SlideView, descriptorAt));
  const rest = () => act(() => vi.advanceTimersByTimeAsync(150));
  return {
    load,
    readout: () => result.current,
    restPointerAt: (clientX: number) => {
      element.dispatchEvent(new MouseEvent('pointermove', { clientX, clientY: 10 }));
      return rest();
    },
    moveViewTo: (column: number) => {
      left = column;
      onMove();
      return rest();
    },
  };
}

describe('useReadout (value of a result layer under the pointer)', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('returns the value at the new place when the slide moves below a resting pointer', async () => {
    const { readout, restPointerAt, moveViewTo } = showHeatmap();
    await restPointerAt(20);
    expect(readout()).toBe(texts.value('20'));
    await moveViewTo(30);
    expect(readout()).toBe(texts.value('50'));
  });

  it('requests nothing when the slide moves before the pointer was over it', async () => {
    const { load, readout, moveViewTo } = showHeatmap();
    await moveViewTo(30);
    expect([readout(), load.mock.calls.length]).toEqual([null, 0]);
  });

  it('returns null instead of the previous value when the value under the pointer cannot be loaded', async () => {
    const { load, readout, restPointerAt } = showHeatmap();
    await restPointerAt(20);
    load.mockRejectedValue(new TypeError('Failed to fetch'));
    await restPointerAt(40);
    expect(readout()).toBeNull();
  });
});
