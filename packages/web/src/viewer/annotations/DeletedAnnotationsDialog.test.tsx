import type { AnnotationRevision } from '@lamina/contract';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { errorResponse, stubApi } from '../../testing/stub-api.ts';
import { DeletedAnnotationsDialog } from './DeletedAnnotationsDialog.tsx';

const deletedId = '6423a977-ffff-48db-affc-cd11632010f0';
const restoredId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';
const longDeletedId = 'b3c1a7f2-5d0e-4c8b-9a6f-1e2d3c4b5a69';
const dayMs = 24 * 3_600_000;

function revision(
  annotation: string,
  change: AnnotationRevision['change'],
  daysAgo: number,
  name?: string,
): AnnotationRevision {
  return {
    annotation,
    revision: 1,
    change,
    feature:
      name === undefined
        ? null
        : {
            type: 'Feature',
            id: annotation,
            geometry: { type: 'Point', coordinates: [1, 2] },
            properties: { objectType: 'annotation', name },
          },
    author: 'colleague',
    author_name: 'Deniz Kaya',
    at: new Date(Date.now() - daysAgo * dayMs).toISOString(),
    version: 1,
  };
}

it('the dialog of deleted annotations lists those deleted in the last 30 days and not yet restored, and restores the chosen one', async () => {
  document.body.append(document.createElement('main')); // the dialog opens in it
  const latest = [
    revision(restoredId, 'restore', 0, 'Restored'),
    revision(restoredId, 'delete', 1),
    revision(deletedId, 'delete', 2),
    revision(deletedId, 'create', 3, 'Nerve'),
  ];
  const otherId = 'c4d2b8f3-6e1f-4d9c-8b70-2f3e4d5c6b7a';
  const older = [revision(otherId, 'delete', 20), revision(longDeletedId, 'delete', 31)];
  const calls = stubApi({
    'GET /annotation-layers/layer/history': ({ query }) =>
      query.cursor === undefined
        ? { revisions: latest, next_cursor: 'older' }
        : { revisions: older, next_cursor: 'oldest' },
    [`POST /annotation-layers/layer/annotations/${deletedId}/restore`]: { ...latest[3]?.feature },
  });
  const onRestored = vi.fn<() => void>();
  render(
    <App env="test">
      <DeletedAnnotationsDialog layerId="layer" onClose={() => {}} onRestored={onRestored} />
    </App>,
  );
  expect(await screen.findByText(/Nerve · No class/)).toBeDefined();
  expect(screen.getAllByRole('button', { name: /^Restore/ })).toHaveLength(1);

  await userEvent.click(screen.getByRole('button', { name: 'Search for older deletions' }));
  await vi.waitFor(() => expect(screen.getAllByRole('button', { name: /^Restore/ })).toHaveLength(2));
  expect(screen.queryByRole('button', { name: 'Search for older deletions' })).toBeNull();

  const [restore] = screen.getAllByRole('button', { name: /^Restore/ });
  if (restore !== undefined) await userEvent.click(restore);
  await vi.waitFor(() => expect(onRestored).toHaveBeenCalledOnce());
  expect(calls.at(-1)?.name).toBe(`POST /annotation-layers/layer/annotations/${deletedId}/restore`);
  expect(screen.queryByText(/Nerve/)).toBeNull();
});

it('the dialog of deleted annotations loads a page of older deletions that could not be loaded when the user clicks "Try Again"', async () => {
  document.body.append(document.createElement('main')); // the dialog opens in it
  let hasFailed = false;
  stubApi({
    'GET /annotation-layers/layer/history': ({ query }) => {
      if (query.cursor === undefined) {
        return { revisions: [revision(deletedId, 'delete', 2)], next_cursor: 'older' };
      }
      if (hasFailed) return { revisions: [revision(restoredId, 'delete', 20)], next_cursor: null };
      hasFailed = true;
      return errorResponse('unavailable', 'Too many requests.');
    },
  });
  render(
    <App env="test">
      <DeletedAnnotationsDialog layerId="layer" onClose={() => {}} onRestored={() => {}} />
    </App>,
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Search for older deletions' }));
  await screen.findByText('Too many requests.');
  await userEvent.click(screen.getByRole('button', { name: 'Try Again' }));
  await vi.waitFor(() => expect(screen.getAllByRole('button', { name: /^Restore/ })).toHaveLength(2));
  expect(screen.queryByText('Too many requests.')).toBeNull();
});
