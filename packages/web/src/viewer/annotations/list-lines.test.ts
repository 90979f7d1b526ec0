import type { AnnotationFeature } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { annotationOf, cssColor } from './annotation.ts';
import { linesOf } from './list-lines.ts';

/** Returns the headings of the list for one annotation of each class (null: an annotation without a class). */
function headingsOf(classNames: readonly (string | null)[], search = '') {
  const annotations = classNames.map((className, index) => {
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
  });
  return linesOf(annotations, search, 'time', cssColor).flatMap((line) =>
    line.kind === 'class' ? [line.name] : [],
  );
}

describe('linesOf (lines of the annotation list, whose search ignores case, accents and the order of words)', () => {
  it('sorts the classes by the Turkish alphabet, with annotations without a class at the end', () => {
    const names = ['Zon', 'Şüpheli', 'Ödem', 'Cisim', null, 'Çap', 'Ilık', 'İltihap', 'Damar'];
    const sorted = ['Cisim', 'Çap', 'Damar', 'Ilık', 'İltihap', 'Ödem', 'Şüpheli', 'Zon', null];
    expect(headingsOf(names)).toEqual(sorted);
  });

  it.each([
    ['immune', 'Immune cells'],
    ['CELLS imm', 'Immune cells'],
    ['iltihap', 'İltihap'],
    ['supheli', 'Şüpheli'],
  ])('for the search text "%s", returns only the annotations of the class "%s"', (search, className) => {
    expect(headingsOf(['Immune cells', 'Tumor', 'İltihap', 'Şüpheli'], search)).toEqual([className]);
  });
});
