/** Tests of the dashboard. They find elements by Turkish texts, the default language of these screens. */
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse } from '../../testing/stub-api.ts';

const noActivity = { 'GET /user/activity': { activity: [] } };

describe('the dashboard', () => {
  it.each([
    ['the display name', 'İpek Işık', 'Hoş geldiniz, İpek Işık'],
    ['the e-mail address when there is no display name', null, 'Hoş geldiniz, ipek@example.org'],
  ])('greets the user with %s', async (_, displayName, greeting) => {
    openApp('/dashboard', { signedInAs: account({ displayName }), api: noActivity });
    await screen.findByRole('heading', { name: greeting });
  });

  it('lists the recent activity of the account, newest first', async () => {
    const activity = [
      {
        at: new Date(2026, 10, 21, 14, 5).toISOString(),
        action: 'image-opened',
        subject: 'liver.svs',
        imageId: 'id-1',
      },
      { at: '2026-11-20T10:00:00.000Z', action: 'image-opened', subject: 'gone.svs', imageId: null },
      { at: '2026-11-19T10:00:00.000Z', action: 'sign-in', subject: null, imageId: null },
      { at: '2026-11-18T10:00:00.000Z', action: 'approved', subject: null, imageId: null },
    ];
    openApp('/dashboard', { signedInAs: account(), api: { 'GET /user/activity': { activity } } });
    const panel = await screen.findByRole('region', { name: 'Son Etkinlikler' });
    const entries = (await within(panel).findAllByRole('listitem')).map(({ textContent }) => textContent);
    // Each text is the action, the name of the slide if there is one, and the time.
    expect(entries).toMatchObject([
      'Slayt açıldı: liver.svs21 Kasım 2026 14:05',
      expect.stringMatching(/^Slayt açıldı: gone\.svs20 Kasım/),
      expect.stringMatching(/^Giriş yapıldı/),
      expect.stringMatching(/^Hesap onaylandı/),
    ]);
    const links = within(panel).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/wsi-viewer?image=id-1']);
  });

  it('says that there is no activity yet when the list of activities is empty', async () => {
    openApp('/dashboard', { signedInAs: account(), api: noActivity });
    await screen.findByText('Henüz bir etkinlik yok.');
  });

  it('loads the activity again when the retry button is pressed after a failure', async () => {
    let response: object = errorResponse('unavailable');
    const { person } = openApp('/dashboard', {
      signedInAs: account(),
      api: { 'GET /user/activity': () => response, 'GET /user/recent-annotations': { slides: [] } },
    });
    await screen.findByText('Son etkinlikler yüklenemedi.');
    response = { activity: [] };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByText('Henüz bir etkinlik yok.');
  });

  it('lists the slides whose annotations changed last, with links to the viewer', async () => {
    const slide = {
      image_id: 'id-1',
      file_name: 'liver.svs',
      layer_id: 'layer-1',
      layer_name: 'Tümör',
      owner: 'uid-2',
      owner_name: 'Can Öz',
      annotation_count: 1200,
      updated_at: new Date(2026, 10, 21, 14, 5).toISOString(),
    };
    const slides = [slide, { ...slide, image_id: 'id-2', file_name: 'lung.svs', owner_name: null }];
    openApp('/dashboard', {
      signedInAs: account(),
      api: { ...noActivity, 'GET /user/recent-annotations': { slides } },
    });
    const panel = await screen.findByRole('region', { name: 'Son İşaretlemeler' });
    const entries = within(panel).getAllByRole('listitem');
    expect(entries.map(({ textContent }) => textContent)).toEqual([
      'liver.svsTümör · Can Öz · 1.200 işaretleme21 Kasım 2026 14:05',
      'lung.svsTümör · 1.200 işaretleme21 Kasım 2026 14:05',
    ]);
    const links = within(panel).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/wsi-viewer?image=id-1',
      '/wsi-viewer?image=id-2',
    ]);
  });

  it('hides the panel of recent annotations when there are none', async () => {
    const { calls } = openApp('/dashboard', {
      signedInAs: account(),
      api: { ...noActivity, 'GET /user/recent-annotations': { slides: [] } },
    });
    await screen.findByText('Henüz bir etkinlik yok.');
    expect(calls.map(({ name }) => name)).toContain('GET /user/recent-annotations');
    expect(screen.queryByRole('region', { name: 'Son İşaretlemeler' })).toBeNull();
  });

  it('says that the recent annotations cannot be loaded, and loads them again when the retry button is pressed', async () => {
    let response: object = errorResponse('unavailable');
    const { person } = openApp('/dashboard', {
      signedInAs: account(),
      api: { ...noActivity, 'GET /user/recent-annotations': () => response },
    });
    await screen.findByText('Son işaretlemeler yüklenemedi.');
    response = { slides: [] };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await waitFor(() => expect(screen.queryByText('Son işaretlemeler yüklenemedi.')).toBeNull());
  });

  it('does not request recent annotations for an account without a role', async () => {
    const { calls } = openApp('/dashboard', { signedInAs: account({ role: 'unassigned' }), api: noActivity });
    await screen.findByText('Henüz bir etkinlik yok.');
    expect(calls.map(({ name }) => name)).not.toContain('GET /user/recent-annotations');
  });

  it.each([
    ['user', ['/wsi-viewer', '/dashboard/profile']],
    ['admin', ['/wsi-viewer', '/dashboard/profile', '/admin']],
  ] as const)('shows an account with the role %s quick links to %j', async (role, paths) => {
    openApp('/dashboard', { signedInAs: account({ role }), api: noActivity });
    const links = within(await screen.findByRole('navigation', { name: 'Hızlı Bağlantılar' }));
    expect(links.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual(paths);
  });

  it('shows an administrator how many applicants wait for approval, with a link to the queue', async () => {
    const api = { ...noActivity, 'GET /admin/waiting': { applications: 1200, datasetRequests: 0 } };
    openApp('/dashboard', { signedInAs: account({ role: 'admin' }), api });
    const link = await screen.findByRole('link', { name: /1\.200 kişi onayınızı bekliyor/ });
    expect(link.getAttribute('href')).toBe('/admin/users?view=waiting');
  });
});
