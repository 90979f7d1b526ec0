import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { createMemoryRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { reportUploadActivity } from '../../notifications/upload-activity.ts';
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

  it('shows a reload button, instead of reloading the page, when the server responds again during an upload', async () => {
    let isDown = true;
    let failedChecks = 0;
    vi.stubGlobal('fetch', async () => {
      if (!isDown) return new Response('');
      failedChecks += 1;
      throw new TypeError('Failed to fetch');
    });
    reportUploadActivity({ count: 1, sentBytes: 0, sizeBytes: 10 });
    openFailingScreen();
    await screen.findByRole('heading', { name: 'Sunucuya ulaşılamıyor' });
    await waitFor(() => expect(failedChecks).toBeGreaterThan(1)); // only a check of a screen that is already unreachable can reload it
    isDown = false;
    fireEvent.online(window);
    // Without an upload, the screen calls `location.reload` instead, and the heading stays.
    await screen.findByRole('button', { name: 'Sayfayı Yenile' });
    screen.getByText(/yüklemeler bitince sayfayı yenileyin/);
    act(() => reportUploadActivity({ count: 0, sentBytes: 0, sizeBytes: 0 }));
  });
});
