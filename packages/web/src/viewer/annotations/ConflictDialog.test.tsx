import type { Geometry } from '@lamina/annotations';
import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { App } from '../../App.tsx';
import { ConflictDialog } from './ConflictDialog.tsx';
import type { SlideAnnotations } from './use-annotations.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';

/** Opens the dialog for two versions of an annotation, whose names may differ. */
function openDialog(geometry: Geometry, myName = 'Vessel', theirName = 'Vessel') {
  document.body.append(document.createElement('main')); // the dialog opens in it
  const featureOf = (name: string) => ({
    type: 'Feature' as const,
    id,
    geometry,
    properties: { objectType: 'annotation', name },
  });
  const mine = { id, layerId: 'layer', imageId: 'image', base: 1, feature: featureOf(myName) };
  const store = { listen: () => () => true, conflict: { id, mine, theirs: featureOf(theirName) } };
  render(
    <App env="test">
      <ConflictDialog slideAnnotations={{ store } as unknown as SlideAnnotations} />
    </App>,
  );
  return screen.findByRole('dialog');
}

it('the conflict dialog shows each point of a point annotation as a dot, without lines between the points', async () => {
  const dialog = await openDialog({
    type: 'MultiPoint',
    coordinates: [
      [10, 20],
      [30, 40],
    ],
  });
  const paths = [...dialog.querySelectorAll('path')].map((path) => path.getAttribute('d'));
  expect(paths).toEqual(['M10 20 l0.01 0M30 40 l0.01 0', 'M10 20 l0.01 0M30 40 l0.01 0']);
});

it('the conflict dialog shows the names of both versions of an annotation', async () => {
  await openDialog({ type: 'Point', coordinates: [1, 2] }, 'Vessel', 'Nerve');
  screen.getByText('Vessel · No class');
  screen.getByText('Nerve · No class');
});
