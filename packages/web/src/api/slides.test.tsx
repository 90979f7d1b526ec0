import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { stubApi } from '../testing/stub-api.ts';
import { useCases } from './cases.ts';
import { loadImageAt, useImage } from './catalogue.ts';
import { queryClient } from './query-client.ts';
import { editSlide } from './slides.ts';

const id = '00000000-0000-4000-8000-000000000001';
/** Pixel size of the slide on the server, in µm. */
let mpp = 0.5;
const image = () => ({
  id,
  file_name: 'a.svs',
  dataset_name: 'Meme',
  organ_type: null,
  width: 100,
  height: 100,
  mpp_x: mpp,
  mpp_y: mpp,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
  vendor: null,
  format: null,
  size_bytes: 0,
  status: 'ready',
  error: null,
  hidden: false,
  created_at: '2026-11-01T00:00:00.000Z',
});

const wrapper = ({ children }: { readonly children: ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

describe('editSlide (changes a slide in the catalogue)', () => {
  let calls: ReturnType<typeof stubApi>;
  beforeEach(() => {
    mpp = 0.5;
    queryClient.clear();
    calls = stubApi({
      [`GET /image-catalog/images/${id}`]: () => ({ image: image() }),
      'GET /image-catalog/images/rows': () => ({ revision: '1', images: [image()] }),
      'GET /cases': { cases: [] },
      'POST /auth/image-session': { session_id: 'session-1', expires_in: 3600 },
      [`PUT /image-catalog/images/${id}`]: () => {
        mpp = 0.25;
        return { image: image() };
      },
    });
  });

  const edit = () => editSlide(id, { calibration: { mpp: 0.25 } });

  it('makes a screen that has shown the slide before, such as a tour, load the new scale of the slide', async () => {
    const firstScreen = renderHook(() => useImage(id), { wrapper });
    await waitFor(() => expect(firstScreen.result.current.image?.mpp_x).toBe(0.5));
    firstScreen.unmount();
    await edit();
    const secondScreen = renderHook(() => useImage(id), { wrapper });
    await waitFor(() => expect(secondScreen.result.current.image?.mpp_x).toBe(0.25));
  });

  it('makes a screen load the new scale of the slide even if a list with the old scale is cached', async () => {
    await loadImageAt(
      { listing: { query: '', dataset: undefined, organ: undefined, order: 'name' }, revision: '1' },
      0,
    );
    await edit();
    const screen = renderHook(() => useImage(id), { wrapper });
    await waitFor(() => expect(screen.result.current.image?.mpp_x).toBe(0.25));
  });

  it('makes a screen that lists cases load the cases again, because a case does not list removed slides', async () => {
    const countCaseCalls = () => calls.filter(({ name }) => name === 'GET /cases').length;
    const firstScreen = renderHook(() => useCases(), { wrapper });
    await waitFor(() => expect(firstScreen.result.current.data).toEqual([]));
    firstScreen.unmount();
    await edit();
    renderHook(() => useCases(), { wrapper });
    await waitFor(() => expect(countCaseCalls()).toBe(2));
  });
});
