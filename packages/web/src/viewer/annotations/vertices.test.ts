import { boundsOf, createEllipse, type Geometry } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { insertVertex, moveVertex, removeVertex, verticesOf } from './vertices.ts';

const triangle: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [10, 0],
      [0, 10],
      [0, 0],
    ],
  ],
};
const twoTriangles: Geometry = {
  type: 'MultiPolygon',
  coordinates: [triangle.coordinates, triangle.coordinates],
};

describe('verticesOf (vertices of an annotation that can be dragged)', () => {
  it('returns the vertices of all parts, without the repeated last positions of rings', () => {
    expect(verticesOf(twoTriangles).map(({ path, index }) => [path, index])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });
});

describe('moveVertex (of an annotation)', () => {
  it('keeps the ring of a polygon closed when its first vertex is moved', () => {
    const [first] = verticesOf(twoTriangles);
    if (first === undefined) throw new Error('There are no vertices.');
    expect(moveVertex(twoTriangles, { ...first, path: 1 }, [5, 5])).toEqual({
      ...twoTriangles,
      coordinates: [
        triangle.coordinates,
        [
          [
            [5, 5],
            [10, 0],
            [0, 10],
            [5, 5],
          ],
        ],
      ],
    });
  });

  it('keeps an ellipse an ellipse when a corner of its bounding box is moved', () => {
    const ellipse = createEllipse({ minX: 0, minY: 0, maxX: 10, maxY: 10 });
    const corner = verticesOf(ellipse)[2]; // at (10, 10)
    if (corner === undefined) throw new Error('There are no vertices.');
    const moved = moveVertex(ellipse, corner, [20, 30]);
    expect(moved).toMatchObject({ isEllipse: true });
    expect(boundsOf(moved)).toEqual({ minX: 0, minY: 0, maxX: 20, maxY: 30 });
  });

  it('returns the geometry unchanged when the vertex has been removed or moved in the meantime', () => {
    const removed = { path: 0, index: 3, position: [10, 10] } as const; // the triangle has the vertices 0 to 2
    const moved = { path: 0, index: 1, position: [20, 0] } as const; // the triangle now has this vertex at (10, 0)
    expect([removed, moved].map((vertex) => moveVertex(triangle, vertex, [5, 5]))).toEqual([
      triangle,
      triangle,
    ]);
  });
});

describe('insertVertex (into an annotation)', () => {
  it('inserts a vertex into the edge that is nearest to the new position', () => {
    expect(insertVertex(triangle, [5, 1])).toMatchObject({
      coordinates: [
        [
          [0, 0],
          [5, 1],
          [10, 0],
          [0, 10],
          [0, 0],
        ],
      ],
    });
  });
});

describe('removeVertex (from an annotation)', () => {
  it('returns null for a vertex of a triangle, which would become a line', () => {
    const [first] = verticesOf(triangle);
    expect(first && removeVertex(triangle, first)).toBeNull();
  });
});
