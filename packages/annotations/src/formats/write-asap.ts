/**
 * Writes XML of the slide viewer ASAP. An ASAP annotation has no holes and at most one class (group), and a line has
 * exactly two points.
 */
import { expandEllipse } from '../geometry/ellipse.ts';
import { roundCoordinate } from '../geometry/translate.ts';
import type { AnnotationFeature, Color } from '../model/feature.ts';
import { isArea, type Position, pathsOf, polygonsOf } from '../model/geometry.ts';
import { chooseClassColor } from './class-color.ts';
import type { Features } from './export-types.ts';
import { toHex } from './write-geojson.ts';
import { openTag } from './write-xml.ts';

interface Shape {
  readonly type: 'Polygon' | 'Dot' | 'PointSet' | 'Measurement';
  readonly positions: readonly Position[];
  readonly isHole: boolean;
}

/** The value of `PartOfGroup` that ASAP writes for an annotation or a group that belongs to no group. */
const noGroup = 'None';
/** Colour of annotations without a class and without a colour of their own. */
const unclassifiedColor: Color = [244, 250, 88];

/** Yields the parts of a document. A hole becomes a polygon in the group `<class> (hole)`. */
export function* writeAsap(features: Features): Generator<string> {
  /** Colours of the groups by name. The groups are written after the annotations. */
  const groups = new Map<string, Color>();
  yield '<?xml version="1.0"?>\n<ASAP_Annotations>\n<Annotations>\n';
  let annotationNumber = 0;
  for (const feature of features) {
    const { classification, color, name } = feature.properties;
    const joinedNames = classification?.names.join(': '); // such as `Tumor` or, for a derived class, `Tumor: Positive`
    const className = joinedNames === noGroup ? `${noGroup} (class)` : joinedNames;
    for (const shape of shapesOf(feature)) {
      const group = shape.isHole ? `${className ?? 'Unclassified'} (hole)` : (className ?? noGroup);
      if (group !== noGroup) groups.set(group, classification?.color ?? chooseClassColor([group]));
      const attributes = {
        Name: name || `Annotation ${annotationNumber}`,
        Type: shape.type,
        PartOfGroup: group,
        Color: toHex(color ?? classification?.color ?? unclassifiedColor),
      };
      annotationNumber++;
      yield `${openTag('Annotation', attributes)}\n<Coordinates>\n`;
      yield shape.positions
        .map(([x, y], index) =>
          openTag('Coordinate', { Order: index, X: roundCoordinate(x), Y: roundCoordinate(y) }, '/>'),
        )
        .join('\n');
      yield '\n</Coordinates>\n</Annotation>\n';
    }
  }
  yield '</Annotations>\n<AnnotationGroups>\n';
  for (const [name, color] of groups) {
    yield `${openTag('Group', { Name: name, PartOfGroup: noGroup, Color: toHex(color) })}<Attributes/></Group>\n`;
  }
  yield '</AnnotationGroups>\n</ASAP_Annotations>\n';
}

/** Returns the ASAP shapes of an annotation, rings without the closing position. Lines of other than two points have no shape in ASAP. */
function shapesOf({ geometry }: AnnotationFeature): readonly Shape[] {
  if (isArea(geometry)) {
    return polygonsOf(expandEllipse(geometry)).flatMap((rings) =>
      rings.map(
        (ring, index): Shape => ({ type: 'Polygon', positions: ring.slice(0, -1), isHole: index > 0 }),
      ),
    );
  }
  const [positions = []] = pathsOf(geometry); // only a MultiLineString has more paths, and ASAP cannot store it
  if (geometry.type === 'Point') return [{ type: 'Dot', positions, isHole: false }];
  if (geometry.type === 'MultiPoint') return [{ type: 'PointSet', positions, isHole: false }];
  return isAsapMeasurement(geometry.type, positions)
    ? [{ type: 'Measurement', positions, isHole: false }]
    : [];
}

/** Returns whether ASAP can store the geometry as its shape `Measurement`, which is a line of exactly two points. */
export function isAsapMeasurement(type: string, positions: readonly Position[]): boolean {
  return type === 'LineString' && positions.length === 2;
}
