import { act, renderHook } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useColourTable } from './use-colour-table.ts';

const profile = { name: 'AT2', bytes: 440, tableSize: 2 };
const tableResponse = () => new Response(new Uint8Array(24)); // 3 bytes for each of 2 × 2 × 2 grid points

/** Renders the hook with these responses, in order; each further request fails without a response. */
async function renderColourTable(...responses: readonly Response[]) {
  const remaining = [...responses];
  const fetchPixels = async () => {
    const response = remaining.shift();
    if (response === undefined) throw new TypeError('Failed to fetch');
    return response;
  };
  const { result } = renderHook(() => useColourTable(profile, '/colour-table', fetchPixels));
  const respondLater = (response: Response) => void remaining.push(response);
  await act(() => vi.advanceTimersByTimeAsync(0));
  return { result, respondLater };
}

describe('useColourTable (the table that corrects the colours of a slide)', () => {
  beforeEach(() => void vi.useFakeTimers());

  it('requests the table every 10 s after a failed request, until the server sends the table', async () => {
    const { result } = await renderColourTable(
      new Response(null, { status: 503 }),
      new Response(new Uint8Array(5)), // an incomplete table
      tableResponse(),
    );
    const failed = { table: null, hasFailed: true };
    expect(result.current).toEqual(failed);
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    expect(result.current).toEqual(failed);
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    expect(result.current).toMatchObject({ table: { size: 2 }, hasFailed: false });
  });

  it('requests a table that could not be loaded as soon as the network is available again', async () => {
    const { result, respondLater } = await renderColourTable();
    expect(result.current.hasFailed).toBe(true);
    respondLater(tableResponse());
    window.dispatchEvent(new Event('online'));
    await act(() => vi.advanceTimersByTimeAsync(0));
    expect(result.current).toMatchObject({ table: { size: 2 }, hasFailed: false });
  });
});
