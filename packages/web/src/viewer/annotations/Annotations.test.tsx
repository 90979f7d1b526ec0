import { type AnnotationFeature, importAnnotations } from '@lamina/annotations';
import type { User } from '@lamina/contract';
import { act, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { saveFile } from '../../browser/save-file.ts';
import { account } from '../../testing/accounts.ts';
import { errorResponse, stubApi } from '../../testing/stub-api.ts';
import type { Shape } from '../overlay/shapes.ts';
import type { SlideView } from '../slide-view.ts';
import { Annotations } from './Annotations.tsx';
import type { AnnotationStore } from './annotation-store.ts';
import { layerOf } from './testing/layer-of.ts';

vi.mock('../../browser/save-file.ts', () => ({ saveFile: vi.fn<typeof saveFile>() }));
vi.mock('./AnnotationCanvas.tsx', () => ({ AnnotationCanvas: () => null })); // jsdom has no canvas

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const foot = document.createElement('div');
const ruler: Shape = {
  kind: 'ruler',
  points: [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
  ],
};
const feature: AnnotationFeature = {
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: { objectType: 'annotation' },
};

/** Number of accounts so far. Each test has an account of its own, because the page keeps the unsent changes of an account. */
let accountCount = 0;
let user: User;
beforeEach(() => {
  document.body.append(foot);
  user = account({ uid: `account-${accountCount++}` });
  setAuthState({ user, token: 'token', isAuthenticated: true });
});
afterEach(() => setAuthState(signedOut));

/** Opens the annotations of a slide outside the drawing mode. @returns also `keep`, which converts a measurement */
async function openAnnotations(answers: Parameters<typeof stubApi>[0] = {}) {
  const layers = [layerOf('own', user.uid, true), layerOf('locked', 'colleague', false)];
  const empty = { type: 'FeatureCollection', features: [], authors: {}, version: 1 };
  stubApi({
    'GET /image-catalog/images/image/annotation-layers': { layers },
    'GET /annotation-layers/own/annotations': empty,
    'GET /annotation-layers/locked/annotations': empty,
    'GET /image-catalog/images/image/annotation-events': errorResponse('not_found'),
    ...answers,
  });
  const opened = Promise.withResolvers<AnnotationStore>();
  const onOpen = (store: AnnotationStore | null) => store !== null && opened.resolve(store);
  const annotations = (shapesToKeep: readonly Shape[]) => (
    <App env="test">
      <Annotations
        view={{} as SlideView}
        imageId="image"
        dataset={null}
        format={null}
        user={user}
        calibration={null}
        isDrawing={false}
        onDone={() => {}}
        foot={foot}
        areAllToolsShown
        onToggleAllTools={() => {}}
        shapesToKeep={shapesToKeep}
        onKept={() => {}}
        onOpen={onOpen}
      />
    </App>
  );
  const noShapes: readonly Shape[] = [];
  const { rerender } = render(annotations(noShapes));
  const store = await opened.promise;
  await vi.waitUntil(() => store.layers.length === 2, { timeout: 5000 });
  return { store, keep: (shape: Shape) => rerender(annotations([shape])) };
}

describe('the viewer, while the drawing mode is off,', () => {
  it('shows that a change of an annotation is kept on this computer while the server is unreachable', async () => {
    const { store } = await openAnnotations();
    act(() => void store.change([{ feature }]));
    expect(foot.textContent).toBe('');
    expect(await screen.findByText('Offline: 1 change kept on this computer')).toBeDefined();
  });

  it('shows that the server has rejected a change of an annotation', async () => {
    const { store } = await openAnnotations({
      'POST /annotation-layers/own/changes': errorResponse('layer_locked'),
    });
    act(() => void store.change([{ feature }]));
    expect((await screen.findByRole('status')).textContent).toContain('Not saved');
  });

  it('offers to save an annotation that is too large for the server as a GeoJSON file, and to discard it', async () => {
    const { store } = await openAnnotations({
      'POST /annotation-layers/own/changes': errorResponse('too_large'),
    });
    act(() => void store.change([{ feature }]));
    const note = await screen.findByRole('status');
    expect(note.textContent).toContain('1 annotation is too large to be saved.');
    await userEvent.click(screen.getByRole('button', { name: 'Save as a file' }));
    const [file, fileName] = vi.mocked(saveFile).mock.lastCall ?? [];
    expect(fileName).toBe('Annotations.geojson');
    const result = importAnnotations((await file?.text()) ?? '', { format: 'auto', extent: null });
    expect(result).toMatchObject({ ok: true, features: [feature] });
    await userEvent.click(screen.getByRole('button', { name: 'Discard my changes' }));
    await vi.waitFor(() => expect(store.all()).toEqual([]));
  });

  it('puts measurements that the user keeps into the user’s own layer when the user may not draw on the active layer', async () => {
    const { store, keep } = await openAnnotations();
    act(() => store.chooseLayer('locked'));
    keep(ruler);
    await vi.waitFor(() => expect(store.all().map(({ layerId }) => layerId)).toEqual(['own']));
  });
});
