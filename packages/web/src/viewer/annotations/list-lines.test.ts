import type { AnnotationFeature } from '@lamina/annotations';
import { expect, it } from 'vitest';
import { annotationOf, cssColor } from './annotation.ts';
import { linesOf } from './list-lines.ts';

it('the annotation list sorts its classes by the Turkish alphabet, with annotations without a class at the end', () => {
  const annotations = ['Zon', 'Şüpheli', 'Ödem', 'Cisim', null, 'Çap', 'Ilık', 'İltihap', 'Damar'].map(
    (className, index) => {
      const feature: AnnotationFeature = {
        type: 'Feature',
        id: `id-${index}`,
        geometry: { type: 'Point', coordinates: [index, 0] },
        properties: {
          objectType: 'annotation',
          ...(className !== null && { classification: { names: [className], color: [200, 0, 0] } }),
        },
      };
      return annotationOf({ feature, layerId: 'layer', revision: 1, author: null, changedAt: 0 });
    },
  );
  const headings = linesOf(annotations, '', 'time', cssColor).flatMap((line) =>
    line.kind === 'class' ? [line.name] : [],
  );
  expect(headings).toEqual(['Cisim', 'Çap', 'Damar', 'Ilık', 'İltihap', 'Ödem', 'Şüpheli', 'Zon', null]);
});
