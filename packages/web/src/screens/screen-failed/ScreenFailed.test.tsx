import { render, screen } from '@testing-library/react';
import { createMemoryRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { describe, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { ScreenFailed } from './ScreenFailed.tsx';

function Broken(): never {
  throw new Error('cannot be rendered');
}

function openBroken(): void {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const router = createMemoryRouter([{ path: '/', element: <Broken />, errorElement: <ScreenFailed /> }]);
  render(
    <App env="test">
      <RouterProvider router={router} />
    </App>,
  );
}

describe('a screen that throws while it renders', () => {
  it('shows a message and a link instead of an empty page', async () => {
    vi.stubGlobal('fetch', async () => new Response(''));
    openBroken();
    await screen.findByRole('heading', { name: 'Beklenmeyen bir hata oluştu.' });
    screen.getByRole('button', { name: 'Sayfayı Yenile' });
  });

  it('names the network when the server cannot be reached', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    openBroken();
    await screen.findByRole('heading', { name: 'Sunucuya ulaşılamıyor' });
    screen.getByText(/bağlantı gelince ekran kendiliğinden açılır/);
  });
});
