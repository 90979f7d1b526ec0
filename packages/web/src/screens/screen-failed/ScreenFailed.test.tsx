import { render, screen } from '@testing-library/react';
import { createMemoryRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { describe, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { ScreenFailed } from './ScreenFailed.tsx';

function FailingScreen(): never {
  throw new Error('cannot be rendered');
}

function openFailingScreen(): void {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const router = createMemoryRouter([
    { path: '/', element: <FailingScreen />, errorElement: <ScreenFailed /> },
  ]);
  render(
    <App env="test">
      <RouterProvider router={router} />
    </App>,
  );
}

describe('the error screen', () => {
  it('shows a message and a reload button when a screen throws while it renders', async () => {
    vi.stubGlobal('fetch', async () => new Response(''));
    openFailingScreen();
    await screen.findByRole('heading', { name: 'Beklenmeyen bir hata oluştu.' });
    screen.getByRole('button', { name: 'Sayfayı Yenile' });
  });

  it('says that the server cannot be reached when a request fails without a response', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    openFailingScreen();
    await screen.findByRole('heading', { name: 'Sunucuya ulaşılamıyor' });
    screen.getByText(/bağlantı gelince ekran kendiliğinden açılır/);
  });
});
