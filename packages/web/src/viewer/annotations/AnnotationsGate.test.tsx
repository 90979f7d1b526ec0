import { act, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { queryClient } from '../../api/query-client.ts';
import { account } from '../../testing/accounts.ts';
import { errorResponse, stubApi } from '../../testing/stub-api.ts';
import type { SlideView } from '../slide-view.ts';
import { AnnotationsGate } from './AnnotationsGate.tsx';
import { layerOf } from './testing/layer-of.ts';

vi.mock('./Annotations.tsx', () => ({ Annotations: () => <p>the annotations</p> }));

const foot = document.createElement('div');
beforeEach(() => {
  queryClient.clear();
  document.body.append(foot);
  setAuthState({ user: account(), token: 'token', isAuthenticated: true });
});
afterEach(() => {
  foot.remove();
  setAuthState(signedOut);
});

/** Opens a slide. @param answers the server's responses to the requests for its annotation layers, in order */
function openSlide(answers: readonly (Response | object)[]) {
  const remaining = [...answers];
  stubApi({
    'HEAD /': {},
    'GET /image-catalog/images/image/annotation-layers': () =>
      remaining.shift() ?? errorResponse('unavailable'),
  });
  render(
    <App env="test">
      <AnnotationsGate
        view={{} as SlideView}
        imageId="image"
        dataset={null}
        format={null}
        calibration={null}
        isDrawing={false}
        onDone={() => {}}
        foot={foot}
        areAllToolsShown
        onToggleAllTools={() => {}}
        shapesToKeep={[]}
        onKept={() => {}}
        onOpen={() => {}}
      />
    </App>,
  );
}
const loaded = { layers: [layerOf('own', 'uid', true)] };

it('the viewer says that the annotation layers of a slide could not be loaded, and shows the annotations as soon as a later request succeeds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  openSlide([errorResponse('unavailable'), errorResponse('unavailable'), loaded]);
  await screen.findByText('The annotations cannot be shown');
  await act(() => vi.advanceTimersByTimeAsync(5000));
  screen.getByText('The annotations cannot be shown'); // the second request has failed too
  await act(() => vi.advanceTimersByTimeAsync(5000));
  await screen.findByText('the annotations');
  expect(screen.queryByRole('alert')).toBeNull();
});

it('the button Retry of the viewer requests the annotation layers of a slide again after they could not be loaded', async () => {
  openSlide([errorResponse('not_found'), loaded]);
  await userEvent.click(await screen.findByRole('button', { name: 'Retry' }));
  await screen.findByText('the annotations');
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});
