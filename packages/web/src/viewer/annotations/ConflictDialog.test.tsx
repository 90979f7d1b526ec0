import type { Geometry } from '@lamina/annotations';
import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { App } from '../../App.tsx';
import { ConflictDialog } from './ConflictDialog.tsx';
import type { SlideAnnotations } from './use-annotations.ts';

it('the conflict dialog shows each point of a point annotation as a dot, without lines between the points', async () => {
  document.body.append(document.createElement('main')); // the dialog opens in it
  const id = '6423a977-ffff-48db-affc-cd11632010f0';
  const geometry: Geometry = {
    type: 'MultiPoint',
    coordinates: [
      [10, 20],
      [30, 40],
    ],
  };
  const feature = { type: 'Feature', id, geometry, properties: { objectType: 'annotation' } };
  const mine = { id, layerId: 'layer', imageId: 'image', base: 1, feature };
  const store = { listen: () => () => true, conflict: { id, mine, theirs: feature } };
  render(
    <App env="test">
      <ConflictDialog slideAnnotations={{ store } as unknown as SlideAnnotations} />
    </App>,
  );
  const dialog = await screen.findByRole('dialog');
  const paths = [...dialog.querySelectorAll('path')].map((path) => path.getAttribute('d'));
  expect(paths).toEqual(['M10 20 l0.01 0M30 40 l0.01 0', 'M10 20 l0.01 0M30 40 l0.01 0']);
});
