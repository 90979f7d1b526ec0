import type { AnnotationImport, AnnotationLayer } from '@lamina/contract';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { errorResponse, stubApi } from '../../testing/stub-api.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { newLayerId } from './pending-change.ts';
import type { SlideAnnotations } from './use-annotations.ts';

const layer: AnnotationLayer = {
  id: 'layer-1',
  image_id: 'image-1',
  name: 'cells.geojson',
  owner: 'user-1',
  owner_name: null,
  visibility: 'members',
  editing: 'owner',
  locked: false,
  source: 'import',
  created_at: '2026-05-01T08:00:00.000Z',
  updated_at: '2026-05-01T08:00:00.000Z',
  version: 1,
  deleted_at: null,
  annotation_count: 0,
  counts: [],
  rights: { annotate: true, manage: true, lock: true },
};
const preview: AnnotationImport = {
  dry_run: true,
  format: 'geojson',
  imported: 0,
  features: 2,
  vertices: 8,
  types: { annotation: 2 },
  classes: [{ name: 'Tumor', count: 2 }],
  warnings: [],
  refused_count: 0,
  refused: [],
  version: 1,
};

/** Opens the dialog for a slide on which the user has no layer. @param importAnswer the response of the import after the preview */
function openDialog(
  importAnswer: object = { ...preview, dry_run: false, imported: 2 },
  { hasScannedArea = false } = {},
) {
  document.body.append(document.createElement('main')); // the dialog opens in it
  const calls = stubApi({
    'POST /image-catalog/images/image-1/annotation-layers': layer,
    'POST /annotation-layers/layer-1/import': ({ query }) =>
      query.dry_run === 'true' ? preview : importAnswer,
    'DELETE /annotation-layers/layer-1': new Response(null, { status: 204 }),
  });
  const store = { imageId: 'image-1', activeLayerId: newLayerId('image-1'), layers: [layer] };
  const onClose = vi.fn<() => void>(() => view.unmount());
  const view = render(
    <App env="test">
      <ImportDialog
        slideAnnotations={{ store } as unknown as SlideAnnotations}
        file={new File(['{}'], 'cells.geojson')}
        hasScannedArea={hasScannedArea}
        onClose={onClose}
        onImported={() => undefined}
      />
    </App>,
  );
  return { onClose, calls, deletions: () => calls.filter(({ name }) => name.startsWith('DELETE')).length };
}

describe('the import dialog of an annotation file, on a slide without a layer of the user,', () => {
  it('creates a layer with the name of the file and the source "import"', async () => {
    const { calls } = openDialog();
    await screen.findByText(/Tumor/);
    const creation = calls.find(
      ({ name }) => name === 'POST /image-catalog/images/image-1/annotation-layers',
    );
    expect(creation?.body).toEqual({ name: 'cells.geojson', source: 'import' });
  });

  it('deletes the layer that it has created when the user cancels after the preview', async () => {
    const { onClose, deletions } = openDialog();
    await screen.findByText(/Tumor/);
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(onClose).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(deletions()).toBe(1));
  });

  it('keeps the layer that it has created when the annotations were imported', async () => {
    const { onClose, deletions } = openDialog();
    await screen.findByText(/Tumor/);
    await userEvent.click(screen.getByRole('button', { name: /^Import/ }));
    await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
    expect(deletions()).toBe(0);
  });

  it('deletes the layer that it has created when the server rejects the import and the user cancels', async () => {
    const { deletions } = openDialog(errorResponse('layer_full'));
    await screen.findByText(/Tumor/);
    await userEvent.click(screen.getByRole('button', { name: /^Import/ }));
    await screen.findByRole('alert');
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await vi.waitFor(() => expect(deletions()).toBe(1));
  });
});

describe('the import dialog of an annotation file, for a MIRAX slide,', () => {
  it('imports with the offset "bounds" when the user states that the coordinates start at the scanned area', async () => {
    const { onClose, calls } = openDialog(undefined, { hasScannedArea: true });
    await screen.findByText(/Tumor/);
    await userEvent.click(screen.getByRole('checkbox', { name: /scanned area/ }));
    await userEvent.click(screen.getByRole('button', { name: /^Import/ }));
    await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
    const imports = calls.filter(({ name }) => name.endsWith('/import'));
    expect(imports.map(({ query }) => [query.dry_run, query.offset])).toEqual([
      ['true', 'none'],
      ['false', 'bounds'],
    ]);
  });
});
