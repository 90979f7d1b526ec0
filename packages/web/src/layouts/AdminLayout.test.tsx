import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { reportUploadActivity } from '../notifications/upload-activity.ts';
import { account } from '../testing/accounts.ts';
import { openApp } from '../testing/open-app.tsx';
import { type Answers, errorResponse } from '../testing/stub-api.ts';

const admin = account({ role: 'admin' });

function openAdminScreen(api: Answers = {}) {
  return openApp('/admin', {
    signedInAs: admin,
    api: {
      'GET /admin/statistics': errorResponse('unavailable'),
      'GET /admin/users': { users: [], message: '' },
      'GET /user/activity': { activity: [] },
      'GET /user/profile': { user: admin },
      ...api,
    },
  });
}
const menuButton = () => screen.findByRole('button', { name: /İpek Işık/ });

describe('the navigation of the admin area', () => {
  it('links to the admin screens and back to the user’s own dashboard', async () => {
    openAdminScreen();
    const bar = within(await screen.findByRole('navigation', { name: 'Yönetim sayfaları' }));
    const links = bar.getAllByRole('link').map((link) => [link.textContent, link.getAttribute('href')]);
    expect(links).toEqual([
      ['Yönetim', '/admin'],
      ['Kullanıcılar', '/admin/users'],
      ['Slaytlar', '/admin/slides'],
      ['Vakalar', '/admin/cases'],
      ['Veri Kümeleri', '/admin/datasets'],
      ['Denetim Kaydı', '/admin/audit'],
      ['Ana Sayfaya Dön', '/dashboard'],
    ]);
  });

  it('shows the name of the signed-in user with an Admin badge', async () => {
    openAdminScreen();
    expect((await menuButton()).textContent).toBe('İIİpek IşıkAdmin'); // initials, name, badge
  });

  it('shows the numbers of waiting applicants and dataset requests, and updates them when the window becomes visible', async () => {
    let waiting = { applications: 3, datasetRequests: 0 };
    openAdminScreen({ 'GET /admin/waiting': () => waiting });
    await screen.findByRole('link', { name: /Kullanıcılar.*3 kişi onay bekliyor/ });
    screen.getByRole('link', { name: 'Veri Kümeleri' });
    waiting = { applications: 0, datasetRequests: 1 };
    window.dispatchEvent(new Event('visibilitychange'));
    await screen.findByRole('link', { name: /Veri Kümeleri.*1 istek yanıt bekliyor/ });
    screen.getByRole('link', { name: 'Kullanıcılar' });
  });

  it('shows the number of uploads in progress until all uploads have ended', async () => {
    openAdminScreen();
    await screen.findByRole('link', { name: 'Slaytlar' });
    act(() => reportUploadActivity({ count: 2, sentBytes: 430, sizeBytes: 1000 }));
    screen.getByRole('link', { name: /Slaytlar.*2 yükleme sürüyor \(%43\)/ }); // 430 of 1000 bytes
    act(() => reportUploadActivity({ count: 0, sentBytes: 0, sizeBytes: 0 }));
    screen.getByRole('link', { name: 'Slaytlar' });
  });

  it('has a menu button with the name of the current screen, and with the name of the navigation on a screen without a link', async () => {
    const { person } = openAdminScreen();
    const button = await screen.findByRole('button', { name: /^Yönetim sayfaları/ });
    expect(button.textContent).toBe('Yönetim sayfaları: Yönetim');
    await person.click(await screen.findByRole('link', { name: 'Anahtarları Gör' }));
    await waitFor(() =>
      expect(screen.getByRole('button', { name: /^Yönetim sayfaları/ }).textContent).toBe(
        'Yönetim sayfaları',
      ),
    );
  });

  it('marks only the link to the current screen as current', async () => {
    const { person } = openAdminScreen();
    await person.click(await screen.findByRole('link', { name: 'Kullanıcılar' }));
    await screen.findByText('All Users');
    const current = screen
      .getAllByRole('link')
      .filter((link) => link.getAttribute('aria-current') === 'page');
    expect(current.map(({ textContent }) => textContent)).toEqual(['Kullanıcılar']);
  });
});

describe('the user menu of the admin area', () => {
  it('contains links to the profile and to sign-out', async () => {
    const { person } = openAdminScreen();
    await person.click(await menuButton());
    const items = await screen.findAllByRole('menuitem');
    expect(items.map(({ textContent }) => textContent)).toEqual(['Profil', 'Çıkış Yap']);
    expect(items[0]?.getAttribute('href')).toBe('/dashboard/profile');
  });

  it.each([
    [
      'a click outside',
      (person: ReturnType<typeof openApp>['person']) =>
        person.click(screen.getByRole('heading', { level: 1 })),
    ],
    [
      'navigation to another screen',
      (person: ReturnType<typeof openApp>['person']) =>
        person.click(screen.getByRole('link', { name: 'Kullanıcılar' })),
    ],
  ])('closes on %s', async (_, action) => {
    const { person } = openAdminScreen();
    await person.click(await menuButton());
    await screen.findAllByRole('menuitem');
    await action(person);
    await vi.waitFor(() => expect(screen.queryByRole('menuitem')).toBeNull());
  });

  it.each([
    ['succeeds', { 'POST /auth/logout': new Response(null, { status: 204 }) }, 'Başarıyla çıkış yapıldı.'],
    ['fails', {}, 'Çıkış yaparken hata oluştu.'],
  ])(
    'signs out, opens the login page and shows a message when the sign-out request %s',
    async (_, api, message) => {
      const { person, address } = openAdminScreen(api);
      await person.click(await menuButton());
      await person.click(await screen.findByRole('menuitem', { name: 'Çıkış Yap' }));
      await screen.findByText(message);
      expect(address()).toBe('/auth/login');
      expect(localStorage.getItem('auth_token')).toBeNull();
    },
  );
});
