/** Vertices of a geometry that a person drags, inserts and removes. */
import { boundsOf, createEllipse, type Geometry, isArea, type Position, pathsOf } from '@lamina/annotations';
import { distanceToEdge } from './hit-index.ts';

/** A vertex by its path, as `pathsOf` numbers them, and its place in the path. */
export interface Vertex {
  readonly path: number;
  readonly index: number;
  readonly at: Position;
}

/** Above this number the vertices of a shape are too dense to be dragged one by one. */
const mostVertices = 2000;

function isEllipse(geometry: Geometry): boolean {
  return geometry.type === 'Polygon' && geometry.isEllipse === true;
}

/** Returns the vertices that can be dragged; of an ellipse the corners of its bounding box. */
export function verticesOf(geometry: Geometry): readonly Vertex[] {
  if (isEllipse(geometry)) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    const corners: readonly Position[] = [
      [minX, minY],
      [maxX, minY],
      [maxX, maxY],
      [minX, maxY],
    ];
    return corners.map((at, index) => ({ path: 0, index, at }));
  }
  const vertices = pathsOf(geometry).flatMap((path, number) =>
    (isArea(geometry) ? path.slice(0, -1) : path).map((at, index) => ({ path: number, index, at })),
  );
  return vertices.length > mostVertices ? [] : vertices;
}

export function moveVertex(geometry: Geometry, { path, index }: Vertex, to: Position): Geometry {
  if (isEllipse(geometry)) {
    const opposite = verticesOf(geometry)[(index + 2) % 4]?.at ?? to;
    const [[x0, y0], [x1, y1]] = [opposite, to];
    const moved = createEllipse({
      minX: Math.min(x0, x1),
      minY: Math.min(y0, y1),
      maxX: Math.max(x0, x1),
      maxY: Math.max(y0, y1),
    });
    return { ...geometry, ...moved };
  }
  return changePath(geometry, path, (positions) => positions.with(index, to));
}

/** Inserts a vertex into the nearest edge. @returns null when the geometry has no edges */
export function insertVertex(geometry: Geometry, at: Position): Geometry | null {
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint' || isEllipse(geometry)) return null;
  let nearest = { distance: Number.POSITIVE_INFINITY, path: 0, index: 0 };
  for (const [path, positions] of pathsOf(geometry).entries()) {
    for (let index = 1; index < positions.length; index++) {
      const [x0, y0] = positions[index - 1] as Position;
      const [x1, y1] = positions[index] as Position;
      const distance = distanceToEdge(at[0], at[1], x0, y0, x1, y1);
      if (distance < nearest.distance) nearest = { distance, path, index };
    }
  }
  const { path, index } = nearest;
  return changePath(geometry, path, (positions) => positions.toSpliced(index, 0, at));
}

/** @returns null when the rest would have no shape */
export function removeVertex(geometry: Geometry, { path, index }: Vertex): Geometry | null {
  if (geometry.type === 'Point' || isEllipse(geometry)) return null;
  const left = (pathsOf(geometry)[path]?.length ?? 0) - 1;
  const least = isArea(geometry) ? 4 : geometry.type === 'MultiPoint' ? 1 : 2;
  if (left < least) return null;
  return changePath(geometry, path, (positions) => positions.toSpliced(index, 1));
}

/** Changes one path; rings are closed again. */
function changePath(
  geometry: Geometry,
  number: number,
  edit: (path: readonly Position[]) => readonly Position[],
): Geometry {
  const editRing = (ring: readonly Position[]) => {
    const open = edit(ring.slice(0, -1));
    return open[0] === undefined ? ring : [...open, open[0]];
  };
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: edit([geometry.coordinates])[0] ?? geometry.coordinates };
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: edit(geometry.coordinates) };
    case 'MultiLineString':
      return {
        ...geometry,
        coordinates: geometry.coordinates.with(number, edit(geometry.coordinates[number] ?? [])),
      };
    case 'Polygon':
      return {
        ...geometry,
        coordinates: geometry.coordinates.with(number, editRing(geometry.coordinates[number] ?? [])),
      };
    case 'MultiPolygon': {
      let seen = 0;
      return {
        ...geometry,
        coordinates: geometry.coordinates.map((rings) =>
          rings.map((ring) => (seen++ === number ? editRing(ring) : ring)),
        ),
      };
    }
  }
}
