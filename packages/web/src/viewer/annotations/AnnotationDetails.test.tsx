import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { App } from '../../App.tsx';
import { AnnotationDetails } from './AnnotationDetails.tsx';
import { openDrawingMode } from './testing/drawing-mode.ts';
import type { SlideAnnotations } from './use-annotations.ts';

it('the name and description of an annotation are saved without the control characters of a pasted text, which the server rejects', () => {
  const { store } = openDrawingMode('move', { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 });
  store.select(
    store.change([
      {
        feature: {
          type: 'Feature',
          id: '6423a977-ffff-48db-affc-cd11632010f0',
          geometry: { type: 'Point', coordinates: [0, 0] },
          properties: { objectType: 'annotation' },
        },
      },
    ]),
  );
  render(
    <App env="test">
      <AnnotationDetails slideAnnotations={{ store } as SlideAnnotations} datasetClasses={[]} />
    </App>,
  );
  const enter = (label: string, value: string) => {
    const field = screen.getByRole('textbox', { name: label });
    fireEvent.change(field, { target: { value } });
    fireEvent.blur(field);
  };
  enter('Name', 'A\tB\u2028C');
  enter('Description', 'first\tline\nsecond\u000b line');
  expect(store.selected()[0]?.feature.properties).toMatchObject({
    name: 'A B C',
    description: 'first\tline\nsecond line',
  });
});
