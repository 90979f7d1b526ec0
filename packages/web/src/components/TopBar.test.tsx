import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { MemoryRouter } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { account } from '../testing/accounts.ts';
import { LoadedUserMenu } from './LoadedUserMenu.tsx';
import { TopBar } from './TopBar.tsx';

// The code of both menus cannot be loaded.
vi.mock('./LinksMenu.tsx', () => ({
  get LinksMenu() {
    throw new TypeError('Failed to fetch dynamically imported module');
  },
}));
vi.mock('./UserMenu.tsx', () => ({
  get UserMenu() {
    throw new TypeError('Failed to fetch dynamically imported module');
  },
}));

describe('the navigation bar when the scripts of its menus cannot be loaded', () => {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
  });

  it('shows the links and the sign-out button in the bar instead of in menus', async () => {
    vi.spyOn(Element.prototype, 'scrollWidth', 'get').mockReturnValue(2000); // px; the links are wider than the bar
    const onLogout = vi.fn<() => void>();
    vi.stubGlobal(
      'ResizeObserver',
      class {
        readonly #callback: () => void;
        constructor(callback: () => void) {
          this.#callback = callback;
        }
        observe() {
          queueMicrotask(this.#callback);
        }
        disconnect() {}
      },
    );
    const links = ['Users', 'Slides', 'Cases'].map((label) => ({ to: `/${label}`, label }));
    render(
      <App env="test">
        <MemoryRouter>
          <TopBar home="/" links={links} navigationLabel="Main navigation">
            <LoadedUserMenu
              user={account()}
              profileLabel="Profile"
              logoutLabel="Log Out"
              onLogout={onLogout}
              labelLanguage="en"
            />
          </TopBar>
          <p>the screen</p>
        </MemoryRouter>
      </App>,
    );
    await userEvent.click(await screen.findByRole('button', { name: 'Log Out' }));
    expect(onLogout).toHaveBeenCalledOnce();
    screen.getByText('İpek Işık');
    screen.getByText('the screen');
    await expect.poll(() => screen.getByRole('banner').dataset.tight).toBeUndefined();
    screen.getByRole('link', { name: 'Slides' });
  });
});
