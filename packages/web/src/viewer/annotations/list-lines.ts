/** The lines of the annotation list: a heading for each class, followed by its annotations. */
import { isArea } from '@lamina/annotations';
import { foldDiacritics, matchesWords, searchWords } from '@lamina/contract';
import { chosenLanguageOr } from '../../language/language.ts';
import { type Annotation, classNameOf, colorOf } from './annotation.ts';
import { texts } from './texts.ts';

export const sortOrders = ['time', 'area', 'name'] as const;
export type SortOrder = (typeof sortOrders)[number];

export type ListLine =
  | {
      readonly kind: 'class';
      /** Null for the heading of annotations without a class. */
      readonly name: string | null;
      /** Number of the annotations under this heading. */
      readonly count: number;
      readonly color: string;
    }
  | { readonly kind: 'annotation'; readonly annotation: Annotation };

/** Returns the name of an annotation, or its kind (area, line, points) when it has none. */
export function labelOf({ feature }: Annotation): string {
  if (feature.properties.name !== undefined) return feature.properties.name;
  const { geometry } = feature;
  if (isArea(geometry)) return texts.kind.area;
  return geometry.type === 'Point' || geometry.type === 'MultiPoint' ? texts.kind.points : texts.kind.line;
}

/**
 * Returns the lines for the annotations whose label, class, author and description contain all words of the search text. As in
 * the search of the catalogue, letter case and diacritics do not matter.
 *
 * @param cssColorOf converts a colour to CSS, for the headings
 */
export function linesOf(
  annotations: readonly Annotation[],
  search: string,
  order: SortOrder,
  cssColorOf: (color: ReturnType<typeof colorOf>) => string,
): readonly ListLine[] {
  const words = searchWords(search);
  const matches = annotations.filter((annotation) => {
    if (words.length === 0) return true;
    const { description = '' } = annotation.feature.properties;
    const className = classNameOf(annotation.feature) ?? texts.noClass;
    const text = `${labelOf(annotation)} ${className} ${annotation.author ?? ''} ${description}`;
    return matchesWords(foldDiacritics(text), words);
  });
  const groups = Map.groupBy(matches, ({ feature }) => classNameOf(feature));
  const names = [...groups.keys()].sort(compareClassNames);
  return names.flatMap((name): readonly ListLine[] => {
    const annotationsOfClass = (groups.get(name) ?? []).toSorted(comparisons[order]);
    const [first] = annotationsOfClass;
    if (first === undefined) return [];
    // The heading has the colour of the class, because a single annotation may have a colour of its own.
    const color = cssColorOf(first.feature.properties.classification?.color ?? colorOf(first.feature));
    return [
      { kind: 'class', name, count: annotationsOfClass.length, color },
      ...annotationsOfClass.map((annotation) => ({ kind: 'annotation' as const, annotation })),
    ];
  });
}

/** Orders class names alphabetically, with annotations without a class at the end. */
function compareClassNames(a: string | null, b: string | null): number {
  if (a === null) return 1;
  // 'tr': in the order of the Turkish alphabet until the user chooses a language.
  return b === null ? -1 : a.localeCompare(b, chosenLanguageOr('tr'));
}

/** Returns the area of the bounding box: a fast approximation of the area of the annotation. */
const boxAreaOf = ({ bounds }: Annotation) => (bounds.maxX - bounds.minX) * (bounds.maxY - bounds.minY);

/** How the annotations of a class are sorted: the latest first, the largest first, or by name. */
const comparisons: Readonly<Record<SortOrder, (a: Annotation, b: Annotation) => number>> = {
  time: (a, b) => b.changedAt - a.changedAt,
  area: (a, b) => boxAreaOf(b) - boxAreaOf(a),
  name: (a, b) => labelOf(a).localeCompare(labelOf(b), chosenLanguageOr('tr')),
};
