import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { shareLinkTexts } from '../../components/texts.ts';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse } from '../../testing/stub-api.ts';

const link = {
  id: 'l-1',
  title: 'Ders 3',
  target: { type: 'slide', id: 'a' },
  owner: 'u-1',
  owner_name: 'Ayşe',
  created_at: '2026-11-22T10:00:00.000Z',
  expires_at: '2026-11-29T10:00:00.000Z',
  openings: 4,
  max_openings: 10,
  has_password: true,
  show_annotations: false,
  free_movement: true,
  ended: false,
};

describe('the share link card of the profile', () => {
  it('lists only the links of the account, with how often each was opened, and ends a link when its button is pressed', async () => {
    const user = account({ uid: 'u-1', role: 'user' });
    const { calls, person } = openApp('/dashboard/profile', {
      signedInAs: user,
      api: {
        'GET /share-links': { share_links: [link, { ...link, id: 'l-2', owner: 'u-2', title: 'Başka' }] },
        'DELETE /share-links/l-1': () => new Response(null, { status: 204 }),
      },
    });
    await screen.findByText('Ders 3');
    expect(screen.queryByText('Başka')).toBeNull();
    screen.getByText(new RegExp(shareLinkTexts.openings(4, 10)));
    await person.click(screen.getByRole('button', { name: shareLinkTexts.endOf('Ders 3') }));
    await expect.poll(() => calls.map(({ name }) => name)).toContain('DELETE /share-links/l-1');
  });

  it('shows that a link has no openings left, and still has a button that ends the link', async () => {
    openApp('/dashboard/profile', {
      signedInAs: account({ uid: 'u-1', role: 'user' }),
      api: {
        'GET /share-links': {
          share_links: [
            { ...link, openings: 10, max_openings: 10 },
            { ...link, id: 'l-2', title: 'Eski', ended: true },
          ],
        },
      },
    });
    await screen.findByText(new RegExp(shareLinkTexts.usedUp));
    screen.getByRole('button', { name: shareLinkTexts.endOf('Ders 3') });
    expect(screen.queryByRole('button', { name: shareLinkTexts.endOf('Eski') })).toBeNull();
  });

  it('shows an error with a retry button, and not an empty list, when the links cannot be loaded', async () => {
    openApp('/dashboard/profile', {
      signedInAs: account({ uid: 'u-1', role: 'user' }),
      api: { 'GET /share-links': errorResponse('internal') },
    });
    await screen.findByText(shareLinkTexts.listFailed);
    expect(screen.queryByText(shareLinkTexts.none)).toBeNull();
  });

  it('is hidden for an account with the role viewer', async () => {
    const { calls } = openApp('/dashboard/profile', {
      signedInAs: account({ uid: 'u-1', role: 'viewer' }),
    });
    await screen.findByRole('heading', { level: 1 });
    expect(screen.queryByText('Paylaşım Bağlantılarım')).toBeNull();
    expect(calls.map(({ name }) => name)).not.toContain('GET /share-links');
  });
});
