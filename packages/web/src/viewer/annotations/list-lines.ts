/** The lines of the list of annotations: a title for each class, then its annotations. */
import { isArea } from '@lamina/annotations';
import { languageNow } from '../../language/language.ts';
import { type Annotation, classNameOf, colorOf } from './annotation.ts';
import { texts } from './texts.ts';

export const sortOrders = ['time', 'area', 'name'] as const;
export type SortOrder = (typeof sortOrders)[number];

export type ListLine =
  | {
      readonly kind: 'class';
      /** Null: annotations without a class. */
      readonly name: string | null;
      readonly count: number;
      readonly color: string;
    }
  | { readonly kind: 'annotation'; readonly annotation: Annotation };

/** Returns the name of an annotation, else what it is. */
export function labelOf({ feature }: Annotation): string {
  if (feature.properties.name !== undefined) return feature.properties.name;
  const { geometry } = feature;
  if (isArea(geometry)) return texts.kind.area;
  return geometry.type === 'Point' || geometry.type === 'MultiPoint' ? texts.kind.points : texts.kind.line;
}

export function linesOf(
  annotations: readonly Annotation[],
  search: string,
  order: SortOrder,
  cssColorOf: (color: ReturnType<typeof colorOf>) => string,
): readonly ListLine[] {
  const wanted = search.trim().toLocaleLowerCase(languageNow('tr'));
  const matches = annotations.filter((annotation) => {
    if (wanted === '') return true;
    const { description = '' } = annotation.feature.properties;
    const text = `${labelOf(annotation)} ${classNameOf(annotation.feature) ?? texts.noClass} ${annotation.author ?? ''} ${description}`;
    return text.toLocaleLowerCase(languageNow('tr')).includes(wanted);
  });
  const groups = Map.groupBy(matches, ({ feature }) => classNameOf(feature));
  const names = [...groups.keys()].sort((a, b) => (a === null ? 1 : b === null ? -1 : a.localeCompare(b)));
  return names.flatMap((name): readonly ListLine[] => {
    const members = (groups.get(name) ?? []).toSorted(comparisons[order]);
    const [first] = members;
    if (first === undefined) return [];
    const color = cssColorOf(first.feature.properties.classification?.color ?? colorOf(first.feature));
    return [
      { kind: 'class', name, count: members.length, color },
      ...members.map((annotation) => ({ kind: 'annotation' as const, annotation })),
    ];
  });
}

const sizeOf = ({ bounds }: Annotation) => (bounds.maxX - bounds.minX) * (bounds.maxY - bounds.minY);

const comparisons: Readonly<Record<SortOrder, (a: Annotation, b: Annotation) => number>> = {
  time: (a, b) => b.changedAt - a.changedAt,
  area: (a, b) => sizeOf(b) - sizeOf(a),
  name: (a, b) => labelOf(a).localeCompare(labelOf(b), languageNow('tr')),
};
