import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../testing/accounts.ts';
import { openApp } from '../testing/open-app.tsx';
import { type Answers, refusal } from '../testing/stub-api.ts';

const admin = account({ role: 'admin' });

function openAdmin(api: Answers = {}) {
  return openApp('/admin', {
    signedInAs: admin,
    api: {
      'GET /admin/statistics': refusal('unavailable'),
      'GET /admin/users': { users: [], message: '' },
      'GET /user/activity': { activity: [] },
      'GET /user/profile': { user: admin },
      ...api,
    },
  });
}
const menuButton = () => screen.findByRole('button', { name: /İpek Işık/ });

describe('the bar of the administration', () => {
  it('leads to its screens and back to the dashboard', async () => {
    openAdmin();
    const bar = within(await screen.findByRole('navigation', { name: 'Yönetim sayfaları' }));
    const links = bar.getAllByRole('link').map((link) => [link.textContent, link.getAttribute('href')]);
    expect(links).toEqual([
      ['Yönetim', '/admin'],
      ['Kullanıcılar', '/admin/users'],
      ['Slaytlar', '/admin/slides'],
      ['Veri Kümeleri', '/admin/datasets'],
      ['Denetim Kaydı', '/admin/audit'],
      ['Panele Dön', '/dashboard'],
    ]);
  });

  it('shows who is here, with an Admin badge', async () => {
    openAdmin();
    expect((await menuButton()).textContent).toBe('İIİpek IşıkAdmin');
  });

  it('says how many people and requests wait, and says so again when the window is looked at', async () => {
    let waiting = { applications: 3, datasetRequests: 0 };
    openAdmin({ 'GET /admin/waiting': () => waiting });
    await screen.findByRole('link', { name: /Kullanıcılar.*3 kişi onay bekliyor/ });
    screen.getByRole('link', { name: 'Veri Kümeleri' });
    waiting = { applications: 0, datasetRequests: 1 };
    window.dispatchEvent(new Event('visibilitychange'));
    await screen.findByRole('link', { name: /Veri Kümeleri.*1 istek yanıt bekliyor/ });
    screen.getByRole('link', { name: 'Kullanıcılar' });
  });

  it('marks the screen that is shown', async () => {
    const { person } = openAdmin();
    await person.click(await screen.findByRole('link', { name: 'Kullanıcılar' }));
    await screen.findByText('All Users');
    const current = screen
      .getAllByRole('link')
      .filter((link) => link.getAttribute('aria-current') === 'page');
    expect(current.map(({ textContent }) => textContent)).toEqual(['Kullanıcılar']);
  });
});

describe('the menu of the administration', () => {
  it('has the profile and the way out', async () => {
    const { person } = openAdmin();
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
      'the way to another screen',
      (person: ReturnType<typeof openApp>['person']) =>
        person.click(screen.getByRole('link', { name: 'Kullanıcılar' })),
    ],
  ])('closes on %s', async (_, act) => {
    const { person } = openAdmin();
    await person.click(await menuButton());
    await screen.findAllByRole('menuitem');
    await act(person);
    await vi.waitFor(() => expect(screen.queryByRole('menuitem')).toBeNull());
  });

  it.each([
    ['a success', { 'POST /auth/logout': new Response(null, { status: 204 }) }, 'Başarıyla çıkış yapıldı.'],
    ['a failure', {}, 'Çıkış yaparken hata oluştu.'],
  ])('logs out, says so after %s and goes to the login page', async (_, api, sentence) => {
    const { person, address } = openAdmin(api);
    await person.click(await menuButton());
    await person.click(await screen.findByRole('menuitem', { name: 'Çıkış Yap' }));
    await screen.findByText(sentence);
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
