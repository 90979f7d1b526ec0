import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { ShareDialog } from './ShareDialog.tsx';

const daysLabel = 'Days until it ends';
const openingsLabel = 'Maximum number of openings (optional)';

/** Opens the dialog, types a value into a field and presses Enter. @returns the function that creates the link */
async function submitWith(label: string, value: string) {
  const person = userEvent.setup({ delay: null });
  const onCreate = vi.fn<(link: object) => Promise<{ url: string }>>(async () => ({
    url: 'https://example.org/shared#secret',
  }));
  render(
    <App env="test">
      <ShareDialog
        heading="Share"
        target={{ type: 'slide', id: 'image' }}
        proposedTitle="Kidney"
        languageBeforeChoice="en"
        onCreate={onCreate}
        onClose={() => {}}
      />
    </App>,
  );
  const field = screen.getByRole('textbox', { name: label });
  await person.clear(field);
  await person.type(field, `${value}{Enter}`);
  return onCreate;
}

describe('the dialog that creates a share link', () => {
  it.each(['0', '1000001'])(
    'shows the limits at the field and creates no link with %s openings',
    async (openings) => {
      const onCreate = await submitWith(openingsLabel, openings);
      await screen.findByText('Enter a whole number from 1 to 1,000,000.');
      expect(screen.getByRole('textbox', { name: openingsLabel }).getAttribute('aria-invalid')).toBe('true');
      expect(onCreate).not.toHaveBeenCalled();
    },
  );

  it('creates a link with 1,000,000 openings', async () => {
    const onCreate = await submitWith(openingsLabel, '1000000');
    expect(onCreate.mock.lastCall?.[0]).toMatchObject({ max_openings: 1_000_000 });
  });

  it('shows the limits at the field and creates no link that is valid for 366 days', async () => {
    const onCreate = await submitWith(daysLabel, '366');
    await screen.findByText('Enter a whole number from 1 to 365.');
    expect(onCreate).not.toHaveBeenCalled();
  });
});
