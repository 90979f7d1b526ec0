import type { AnnotationLayer } from '@lamina/contract';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { saveFile } from '../../browser/save-file.ts';
import { stubApi } from '../../testing/stub-api.ts';
import { AnnotationStore } from './annotation-store.ts';
import { LayerFields } from './LayerFields.tsx';
import { createQueue } from './testing/drawing-mode.ts';
import { layerOf } from './testing/layer-of.ts';
import type { SlideAnnotations } from './use-annotations.ts';

vi.mock('../../browser/save-file.ts', () => ({ saveFile: vi.fn<typeof saveFile>() }));

/** Shows the fields of a layer and opens its menu. @returns the requests to the server */
async function openLayerMenu(
  layer: AnnotationLayer,
  options: { readonly isAdmin?: boolean; readonly hasScannedArea?: boolean; readonly warnings?: string } = {},
) {
  const { isAdmin = false, hasScannedArea = false, warnings } = options;
  const headers = warnings === undefined ? {} : { 'Lamina-Export-Warnings': warnings };
  const calls = stubApi({
    [`GET /annotation-layers/${layer.id}/annotations`]: {
      type: 'FeatureCollection',
      features: [],
      authors: {},
      version: 1,
    },
    [`GET /annotation-layers/${layer.id}/export`]: () => new Response('file', { headers }),
  });
  const store = new AnnotationStore('image', createQueue());
  await store.setLayers([layer], 'admin');
  store.chooseLayer(layer.id);
  render(
    <App env="test">
      <LayerFields
        slideAnnotations={{ store } as SlideAnnotations}
        mayDraw
        mayManageAllLayers={isAdmin}
        hasScannedArea={hasScannedArea}
        onReload={() => {}}
      />
    </App>,
  );
  await userEvent.click(screen.getByRole('button', { name: 'Layer actions' }));
  return calls;
}

/** A locked layer of another account. @param mayLock whether the user may unlock it */
const lockedLayer = (mayLock: boolean): AnnotationLayer => ({
  ...layerOf('nuclei', 'owner', false),
  rights: { annotate: false, manage: true, lock: mayLock },
});

describe('the menu of a locked annotation layer', () => {
  it('offers an administrator to delete the layer', async () => {
    await openLayerMenu(lockedLayer(true), { isAdmin: true });
    expect(await screen.findByRole('menuitem', { name: 'Delete the layer' })).toBeDefined();
  });

  it('offers its owner to unlock the layer, but neither to rename nor to delete it', async () => {
    await openLayerMenu(lockedLayer(true));
    expect(await screen.findByRole('menuitem', { name: 'Unlock the layer' })).toBeDefined();
    expect(screen.queryByRole('menuitem', { name: /^Rename|^Delete the layer/ })).toBeNull();
  });
});

describe('the export of an annotation layer', () => {
  it('shows what the format cannot store, until the user closes the message', async () => {
    await openLayerMenu(layerOf('nuclei', 'owner', true), {
      warnings: 'lines_left_out=2, hierarchy_flattened=7, unknown_code=1',
    });
    await userEvent.click(await screen.findByRole('menuitem', { name: 'ASAP (XML)' }));
    const message = await screen.findByRole('alert');
    expect(message.textContent).toContain('Lines were left out: 2');
    expect(message.textContent).toContain('Links to parent annotations were left out: 7');
    expect(vi.mocked(saveFile).mock.lastCall?.[1]).toBe('nuclei.xml');
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('shows no message when the format stores everything', async () => {
    await openLayerMenu(layerOf('nuclei', 'owner', true));
    vi.mocked(saveFile).mockClear();
    await userEvent.click(await screen.findByRole('menuitem', { name: 'QuPath (GeoJSON)' }));
    await vi.waitFor(() => expect(saveFile).toHaveBeenCalledOnce());
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('requests the offset "bounds" for a MIRAX slide after the user has chosen coordinates from the scanned area', async () => {
    const calls = await openLayerMenu(layerOf('nuclei', 'owner', true), { hasScannedArea: true });
    await userEvent.click(await screen.findByRole('menuitemcheckbox', { name: /scanned area/ }));
    await userEvent.click(screen.getByRole('menuitem', { name: 'QuPath (GeoJSON)' }));
    await vi.waitFor(() =>
      expect(calls.at(-1)).toMatchObject({
        name: 'GET /annotation-layers/nuclei/export',
        query: { format: 'qupath', offset: 'bounds' },
      }),
    );
  });

  it('offers no coordinates from the scanned area for a slide that is not a MIRAX slide', async () => {
    await openLayerMenu(layerOf('nuclei', 'owner', true));
    await screen.findByRole('menuitem', { name: 'QuPath (GeoJSON)' });
    expect(screen.queryByRole('menuitemcheckbox')).toBeNull();
  });
});
