import { act, render, screen, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { errorResponse, stubApi } from '../../testing/stub-api.ts';
import type { SlideView } from '../slide-view.ts';
import { ShareLinkAnnotations } from './ShareLinkAnnotations.tsx';

it('a visitor of a share link sees that the annotations could not be loaded, until a later request succeeds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  let response: object = errorResponse('unavailable');
  stubApi({ 'GET /image-catalog/images/image/annotation-layers': () => response });
  const view = { watch: () => () => {}, addOverlay: () => () => {}, placement: () => null };
  render(
    <App env="test">
      <ShareLinkAnnotations view={view as unknown as SlideView} imageId="image" session="session" />
    </App>,
  );
  await screen.findByRole('alert', { name: 'İşaretlemeler yüklenemedi.' });
  response = { layers: [] };
  await act(() => vi.advanceTimersByTimeAsync(5000));
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  screen.getByRole('img', { name: 'Slayttaki işaretleme sayısı: 0' });
});
