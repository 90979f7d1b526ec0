import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../testing/accounts.ts';
import { openApp } from '../testing/open-app.tsx';
import type { Answers } from '../testing/stub-api.ts';

const user = account();

function openDashboard(api: Answers = {}, signedInAs = user) {
  return openApp('/dashboard', {
    signedInAs,
    api: { 'GET /user/activity': { activity: [] }, 'GET /user/profile': { user: signedInAs }, ...api },
  });
}
const menuButton = () => screen.findByRole('button', { name: 'İpek Işık' });

describe('the navigation bar of the dashboard', () => {
  it('links the product name to the dashboard, and also links to the WSI Viewer and the collections', async () => {
    openDashboard();
    const bar = within(await screen.findByRole('banner'));
    const links = bar.getAllByRole('link').map((link) => [link.textContent, link.getAttribute('href')]);
    expect(links).toEqual([
      ['Lamina', '/dashboard'],
      ['WSI Viewer', '/wsi-viewer'],
      ['Collections', '/collections'],
    ]);
  });

  it('links administrators to the Admin Panel', async () => {
    openDashboard({}, account({ role: 'admin' }));
    const link = await screen.findByRole('link', { name: 'Admin Panel' });
    expect(link.getAttribute('href')).toBe('/admin');
  });
});

describe('the user menu of the dashboard', () => {
  it('changes the theme to light, dark or the setting of the system', async () => {
    const { person } = openDashboard();
    const choose = async (theme: RegExp) => {
      if (screen.queryByRole('menuitemradio', { name: theme }) === null)
        await person.click(await menuButton());
      await person.click(await screen.findByRole('menuitemradio', { name: theme }));
    };
    const currentScheme = () => document.documentElement.dataset.mantineColorScheme;
    await choose(/Dark|Koyu/);
    await waitFor(() => expect(currentScheme()).toBe('dark'));
    await choose(/Light|Açık/);
    await waitFor(() => expect(currentScheme()).toBe('light'));
    await choose(/System|Sistem/);
    await waitFor(() => expect(localStorage.getItem('mantine-color-scheme-value')).toBe('auto'));
  });

  it.each([
    ['the display name', 'İpek Işık', 'İIİpek Işık'],
    ['the e-mail address of an account without a display name', null, 'İipek@example.org'],
  ])('shows the initials of the user and %s', async (_, displayName, text) => {
    openDashboard({}, account({ displayName }));
    const button = await screen.findByRole('button', { name: displayName ?? user.email });
    expect(button.textContent).toBe(text);
  });

  it('links to the profile', async () => {
    const { person, address } = openDashboard();
    await person.click(await menuButton());
    await person.click(await screen.findByRole('menuitem', { name: 'Profile' }));
    await screen.findByRole('heading', { name: 'Profil' });
    expect(address()).toBe('/dashboard/profile');
  });

  it('closes on a click outside', async () => {
    const { person } = openDashboard();
    await person.click(await menuButton());
    await screen.findByRole('menuitem', { name: 'Logout' });
    await person.click(screen.getByRole('heading', { level: 1 }));
    await vi.waitFor(() => expect(screen.queryByRole('menuitem')).toBeNull());
  });

  it('signs out, clears the stored sign-in, shows a message and opens the login page', async () => {
    const { person, calls, address } = openDashboard({
      'POST /auth/logout': new Response(null, { status: 204 }),
    });
    await person.click(await menuButton());
    await person.click(await screen.findByRole('menuitem', { name: 'Logout' }));
    await screen.findByText('Successfully logged out.');
    expect(calls.at(-1)).toMatchObject({ name: 'POST /auth/logout', authorization: 'Bearer token-1' });
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
    expect(localStorage.getItem('user_data')).toBeNull();
  });

  it('signs out in this browser and shows an error when the server does not respond', async () => {
    const { person, address } = openDashboard();
    await person.click(await menuButton());
    await person.click(await screen.findByRole('menuitem', { name: 'Logout' }));
    await screen.findByText('Çıkış yaparken hata oluştu.');
    expect(screen.queryByText('Successfully logged out.')).toBeNull();
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
