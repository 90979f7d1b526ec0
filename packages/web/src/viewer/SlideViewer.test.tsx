import { act, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import type { FetchPixels } from './pixels.ts';
import { SlideViewer } from './SlideViewer.tsx';
import type { SlideView } from './slide-view.ts';
import type { ViewedSlide } from './viewed-slide.ts';

/** A view that draws nothing, because OpenSeadragon needs a browser. */
const view = {
  correctsColours: true,
  adjustsColours: true,
  size: () => ({ width: 0, height: 0 }),
  show: vi.fn<SlideView['show']>(),
  clear: () => {},
  showColours: vi.fn<SlideView['showColours']>(),
  retryFailedTiles: vi.fn<SlideView['retryFailedTiles']>(),
  destroy: () => {},
};
vi.mock(import('./slide-view.ts'), async (original) => ({
  ...(await original()),
  createSlideView: () => view as unknown as SlideView,
}));

vi.mock('../api/delay.ts', () => ({ delay: async () => {} })); // retries do not wait

const descriptor = {
  width: 1000,
  height: 1000,
  tileSize: 256,
  overlap: 0,
  format: 'jpeg',
  profile: { name: 'AT2', bytes: 440, tableSize: 2 },
};
const descriptors = { preload: () => {}, load: async () => descriptor };
const doNothing = () => {};

/** Returns the viewer with a slide that has a colour profile. @param fetchPixels requests tiles and the colour table */
function viewerWith(name: string, fetchPixels: FetchPixels) {
  const slide: ViewedSlide = {
    descriptorUrl: '/slide.dzi',
    tileUrlOf: ({ level, column, row }) => `/tiles/${level}/${column}_${row}`,
    colourTableUrl: '/colour-table',
    scale: { mpp: null, mppY: null, objectivePower: null, derived: null },
    name,
    annotatedSlide: null,
  };
  return (
    <App env="test">
      <SlideViewer
        slide={slide}
        thumbnailUrl={null}
        fetchPixels={fetchPixels}
        descriptors={descriptors}
        session="session"
        initialField={() => null}
        onField={doNothing}
        onView={doNothing}
        onIncomplete={doNothing}
        keptColours={null}
        onKeepColours={doNothing}
        isCorrected
        onCorrect={doNothing}
        handlesKeys
        Overlay={({ failure, retry }) =>
          failure && (
            <button type="button" onClick={retry}>
              Retry
            </button>
          )
        }
      />
    </App>
  );
}

describe('SlideViewer (the zoomable slide with its controls)', () => {
  it('corrects the colours of a slide again after the slide was opened again, for example because it was renamed', async () => {
    const fetchPixels = async () => new Response(new Uint8Array(24)); // a table of 2 × 2 × 2 grid points
    const hasTable = () => view.showColours.mock.lastCall?.[0].table !== null;
    const page = render(viewerWith('old name', fetchPixels));
    await waitFor(() => expect(view.showColours).toHaveBeenCalled());
    await waitFor(() => expect(hasTable()).toBe(true));
    const openings = view.show.mock.calls.length;
    view.showColours.mockClear(); // opening the slide again removes the table from the view
    page.rerender(viewerWith('new name', fetchPixels));
    await waitFor(() => expect(view.show.mock.calls.length).toBe(openings + 1));
    await waitFor(() => expect(view.showColours).toHaveBeenCalled());
    expect(hasTable()).toBe(true);
  });

  it('requests all failed tiles again when Retry is pressed, also a tile for which the server had responded 404', async () => {
    view.show.mockClear();
    const fetchPixels = async () => new Response(null, { status: 404 });
    render(viewerWith('slide', fetchPixels));
    await waitFor(() => expect(view.show).toHaveBeenCalled());
    const supply = view.show.mock.lastCall?.[1];
    await act(async () => {
      await supply?.load('/tiles/1/0_0').catch(() => undefined);
    });
    view.retryFailedTiles.mockClear();
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(view.retryFailedTiles).toHaveBeenCalledWith('all'); // by default, it skips tiles that the server does not have
  });

  it('shows a warning over the slide while the table that corrects its colours cannot be loaded', async () => {
    render(viewerWith('slide', async () => new Response(null, { status: 503 })));
    await screen.findByText('The colour correction could not be loaded: colours are shown as scanned');
  });
});
