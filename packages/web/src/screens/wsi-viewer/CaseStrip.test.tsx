import type { Case } from '@lamina/contract';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { queryClient } from '../../api/query-client.ts';
import { account } from '../../testing/accounts.ts';
import { stubApi } from '../../testing/stub-api.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { CaseStrip, type CaseStripProps } from './CaseStrip.tsx';
import { imageOf } from './testing/catalogue-server.ts';

const heSlide = imageOf({ id: '1', dataset_name: 'Meme' });
const ki67Slide = imageOf({ id: '2', dataset_name: 'Meme' });

const caseOfBothSlides: Case = {
  id: 'case-1',
  version: 1,
  dataset: 'Meme',
  name: 'B-12',
  description: null,
  slides: [
    { image_id: heSlide.id, stain: 'H&E', block: 'A1', note: null },
    { image_id: ki67Slide.id, stain: 'Ki-67', block: 'A1', note: null },
  ],
  registrations: [],
  created_at: '2026-11-22T10:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
};

/** Renders the strip for a viewed slide, with a stub of the API that returns one case with both slides. */
function renderStrip(viewedSlide = heSlide, props: Partial<CaseStripProps> = {}) {
  queryClient.clear();
  const calls = stubApi({ 'GET /cases': { cases: [caseOfBothSlides] } });
  const onSelect = vi.fn<(imageId: string) => void>();
  const stripWith = (changes: Partial<CaseStripProps>) => (
    <MantineProvider>
      <QueryClientProvider client={queryClient}>
        <CaseStrip
          image={viewedSlide}
          session={null}
          onSelect={onSelect}
          onThumbnailFailed={() => undefined}
          comparedSlides={null}
          onRegisteringChange={() => undefined}
          {...props}
          {...changes}
        />
      </QueryClientProvider>
    </MantineProvider>
  );
  const { rerender } = render(stripWith({}));
  const change = (changes: Partial<CaseStripProps>) => rerender(stripWith(changes));
  return { calls, onSelect, change, person: userEvent.setup() };
}

beforeEach(() => setAuthState(signedOut));

describe('CaseStrip (the strip with the slides of the viewed slide’s case)', () => {
  it('labels each slide with its block and stain, and opens a slide when it is clicked', async () => {
    const { calls, onSelect, person } = renderStrip();
    const strip = await screen.findByRole('navigation', { name: 'Slides of case B-12' });
    expect(strip.querySelector('[aria-current]')?.textContent).toBe('A1 · H&E');
    await person.click(screen.getByRole('button', { name: 'A1 · Ki-67' }));
    expect(onSelect).toHaveBeenCalledWith(ki67Slide.id);
    expect(calls[0]?.query).toEqual({ dataset: 'Meme' });
  });

  it('opens the previous slide on Page Up, and ignores Page Down at the last slide', async () => {
    const { onSelect, person } = renderStrip(ki67Slide);
    await screen.findByRole('navigation');
    await person.keyboard('{PageDown}'); // the viewed slide is the last one
    expect(onSelect).not.toHaveBeenCalled();
    await person.keyboard('{PageUp}');
    expect(onSelect).toHaveBeenCalledWith(heSlide.id);
  });

  it('calls onRegisteringChange(false) when the comparison is closed while its two slides are being registered (aligned)', async () => {
    setAuthState({ user: account() });
    const view: Partial<SlideView> = {
      element: () => document.createElement('div'),
      placement: () => null,
      watch: () => () => undefined,
      setPointerTool: () => undefined,
    };
    const comparedSlides = {
      imageIds: { first: heSlide.id, second: ki67Slide.id },
      views: { first: view as SlideView, second: view as SlideView },
    };
    const onRegisteringChange = vi.fn<(isRegistering: boolean) => void>();
    const { change, person } = renderStrip(heSlide, { comparedSlides, onRegisteringChange });
    await person.click(await screen.findByRole('button', { name: 'Register slides' }));
    expect(onRegisteringChange).toHaveBeenLastCalledWith(true);
    change({ comparedSlides: null });
    expect(onRegisteringChange).toHaveBeenLastCalledWith(false);
    await screen.findByRole('navigation', { name: 'Slides of case B-12' });
    change({});
    screen.getByRole('button', { name: 'Register slides' }); // and not the bar for placing points
  });

  it('is hidden when the viewed slide is in no case', async () => {
    const { calls } = renderStrip(imageOf({ id: '3', dataset_name: 'Meme' }));
    await expect.poll(() => calls.length).toBe(1);
    expect(screen.queryByRole('navigation')).toBeNull();
  });
});
