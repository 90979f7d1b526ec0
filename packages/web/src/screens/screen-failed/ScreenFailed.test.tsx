import { render, screen } from '@testing-library/react';
import { createMemoryRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { ScreenFailed } from './ScreenFailed.tsx';

function Broken(): never {
  throw new Error('cannot be drawn');
}

it('a screen that breaks while it is drawn leaves a sentence and a way on, not an empty page', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const router = createMemoryRouter([{ path: '/', element: <Broken />, errorElement: <ScreenFailed /> }]);
  render(
    <App env="test">
      <RouterProvider router={router} />
    </App>,
  );
  await screen.findByRole('heading', { name: 'Beklenmeyen bir hata oluştu.' });
  screen.getByRole('button', { name: 'Sayfayı Yenile' });
});
