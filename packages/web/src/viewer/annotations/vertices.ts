/** Finds, moves, inserts and removes the vertices of a geometry, for editing annotations with the pointer. */
import { boundsOf, createEllipse, type Geometry, isArea, type Position, pathsOf } from '@lamina/annotations';
import { distanceToEdge } from './hit-index.ts';

export interface Vertex {
  /** Index of the path (ring or line) in the result of `pathsOf`. */
  readonly path: number;
  /** Index of the vertex in the path. */
  readonly index: number;
  readonly position: Position; // in image pixels
}

/** When a shape has more vertices than this, they are too dense to be dragged, and `verticesOf` returns none. */
const maxVertices = 2000;

function isEllipse(geometry: Geometry): boolean {
  return geometry.type === 'Polygon' && geometry.isEllipse === true;
}

/** Returns the vertices that can be dragged: for an ellipse, the corners of its bounding box. */
export function verticesOf(geometry: Geometry): readonly Vertex[] {
  if (isEllipse(geometry)) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    const corners: readonly Position[] = [
      [minX, minY],
      [maxX, minY],
      [maxX, maxY],
      [minX, maxY],
    ];
    return corners.map((position, index) => ({ path: 0, index, position }));
  }
  const vertices = pathsOf(geometry).flatMap((positions, path) => {
    // The last position of a ring repeats the first.
    const distinctPositions = isArea(geometry) ? positions.slice(0, -1) : positions;
    return distinctPositions.map((position, index) => ({ path, index, position }));
  });
  return vertices.length > maxVertices ? [] : vertices;
}

/** Whether a geometry still has a vertex with this index and position. False after another user has changed the outline there. */
export function hasVertex(geometry: Geometry, { path, index, position: [x, y] }: Vertex): boolean {
  const vertex = verticesOf(geometry).find(
    (candidate) => candidate.path === path && candidate.index === index,
  );
  return vertex?.position[0] === x && vertex.position[1] === y;
}

/**
 * Returns the geometry with a vertex moved to a new position. An ellipse keeps the opposite corner of its bounding box.
 * Returns the same geometry when it no longer has the vertex.
 */
export function moveVertex(geometry: Geometry, vertex: Vertex, newPosition: Position): Geometry {
  if (!hasVertex(geometry, vertex)) return geometry;
  const { path, index } = vertex;
  if (isEllipse(geometry)) {
    // The corners are numbered around the box, so the opposite one is two corners on.
    const oppositeCorner = verticesOf(geometry)[(index + 2) % 4]?.position ?? newPosition;
    const [[x0, y0], [x1, y1]] = [oppositeCorner, newPosition];
    const moved = createEllipse({
      minX: Math.min(x0, x1),
      minY: Math.min(y0, y1),
      maxX: Math.max(x0, x1),
      maxY: Math.max(y0, y1),
    });
    return { ...geometry, ...moved };
  }
  return changePath(geometry, path, (positions) => positions.with(index, newPosition));
}

/** Inserts a vertex into the nearest edge. @returns null when the geometry has no edges or is an ellipse */
export function insertVertex(geometry: Geometry, newVertex: Position): Geometry | null {
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint' || isEllipse(geometry)) return null;
  let nearest = { distance: Number.POSITIVE_INFINITY, path: 0, index: 0 };
  for (const [path, positions] of pathsOf(geometry).entries()) {
    for (let index = 1; index < positions.length; index++) {
      const [x0, y0] = positions[index - 1] as Position;
      const [x1, y1] = positions[index] as Position;
      const distance = distanceToEdge(newVertex[0], newVertex[1], x0, y0, x1, y1);
      if (distance < nearest.distance) nearest = { distance, path, index };
    }
  }
  const { path, index } = nearest;
  return changePath(geometry, path, (positions) => positions.toSpliced(index, 0, newVertex));
}

/** Removes a vertex. @returns null for an ellipse, and when too few positions would remain for the type of the geometry */
export function removeVertex(geometry: Geometry, { path, index }: Vertex): Geometry | null {
  if (geometry.type === 'Point' || isEllipse(geometry)) return null;
  const remainingPositions = (pathsOf(geometry)[path]?.length ?? 0) - 1; // of a ring, including the repeated last one
  if (remainingPositions < minPositionsOf(geometry)) return null;
  return changePath(geometry, path, (positions) => positions.toSpliced(index, 1));
}

/** Returns the number of positions that a path needs: 4 for a ring, because a triangle repeats its first position at the end. */
function minPositionsOf(geometry: Geometry): number {
  if (isArea(geometry)) return 4;
  return geometry.type === 'MultiPoint' ? 1 : 2;
}

/** Returns the geometry with one path edited. Rings are passed to `edit` without the repeated last position. */
function changePath(
  geometry: Geometry,
  pathIndex: number,
  edit: (path: readonly Position[]) => readonly Position[],
): Geometry {
  const editRing = (ring: readonly Position[]) => {
    const positions = edit(ring.slice(0, -1));
    return positions[0] === undefined ? ring : [...positions, positions[0]];
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
        coordinates: geometry.coordinates.with(pathIndex, edit(geometry.coordinates[pathIndex] ?? [])),
      };
    case 'Polygon':
      return {
        ...geometry,
        coordinates: geometry.coordinates.with(pathIndex, editRing(geometry.coordinates[pathIndex] ?? [])),
      };
    case 'MultiPolygon': {
      // `pathsOf` lists the rings of all polygons one after the other.
      let ringIndex = 0;
      return {
        ...geometry,
        coordinates: geometry.coordinates.map((rings) =>
          rings.map((ring) => (ringIndex++ === pathIndex ? editRing(ring) : ring)),
        ),
      };
    }
  }
}
