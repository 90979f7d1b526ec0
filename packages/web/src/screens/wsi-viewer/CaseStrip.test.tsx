import type { Case } from '@lamina/contract';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { queryClient } from '../../api/query-client.ts';
import { stubApi } from '../../testing/stub-api.ts';
import { CaseStrip } from './CaseStrip.tsx';
import { imageOf } from './testing/catalogue-server.ts';

const [one, two] = [imageOf({ id: '1', dataset_name: 'Meme' }), imageOf({ id: '2', dataset_name: 'Meme' })];

const caseOfOneAndTwo: Case = {
  id: 'case-1',
  version: 1,
  dataset: 'Meme',
  name: 'B-12',
  description: null,
  slides: [
    { image_id: one.id, stain: 'H&E', block: 'A1', note: null },
    { image_id: two.id, stain: 'Ki-67', block: 'A1', note: null },
  ],
  registrations: [],
  created_at: '2026-11-22T10:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
};

function open(image = one, cases: readonly Case[] = [caseOfOneAndTwo]) {
  setAuthState(signedOut);
  queryClient.clear();
  const calls = stubApi({ 'GET /cases': { cases } });
  const onSelect = vi.fn<(imageId: string) => void>();
  render(
    <MantineProvider>
      <QueryClientProvider client={queryClient}>
        <CaseStrip
          image={image}
          session={null}
          onSelect={onSelect}
          onThumbnailFailed={() => undefined}
          comparedSlides={null}
          onRegistering={() => undefined}
        />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { calls, onSelect, person: userEvent.setup() };
}

describe('the case strip', () => {
  it('shows the slides of the case with block and stain, and opens one on a click', async () => {
    const { calls, onSelect, person } = open();
    const strip = await screen.findByRole('navigation', { name: 'Slides of case B-12' });
    expect(strip.querySelector('[aria-current]')?.textContent).toBe('A1 · H&E');
    await person.click(screen.getByRole('button', { name: 'A1 · Ki-67' }));
    expect(onSelect).toHaveBeenCalledWith(two.id);
    expect(calls[0]?.query).toEqual({ dataset: 'Meme' });
  });

  it('opens the next slide on Page Down and the previous one on Page Up, up to the last and the first', async () => {
    const { onSelect, person } = open(two);
    await screen.findByRole('navigation');
    await person.keyboard('{PageDown}');
    expect(onSelect).not.toHaveBeenCalled();
    await person.keyboard('{PageUp}');
    expect(onSelect).toHaveBeenCalledWith(one.id);
  });

  it('is hidden for a slide without a case', async () => {
    const { calls } = open(imageOf({ id: '3', dataset_name: 'Meme' }));
    await expect.poll(() => calls.length).toBe(1);
    expect(screen.queryByRole('navigation')).toBeNull();
  });
});
