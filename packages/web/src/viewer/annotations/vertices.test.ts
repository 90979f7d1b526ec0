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
const two: Geometry = { type: 'MultiPolygon', coordinates: [triangle.coordinates, triangle.coordinates] };

describe('vertices of an annotation', () => {
  it('are returned for all parts, without the closing positions of rings', () => {
    expect(verticesOf(two).map(({ path, index }) => [path, index])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });

  it('keep the ring closed when its first vertex is moved', () => {
    const [first] = verticesOf(two);
    if (first === undefined) throw new Error('There are no vertices.');
    expect(moveVertex(two, { ...first, path: 1 }, [5, 5])).toEqual({
      ...two,
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

  it('are inserted into the edge that is nearest to the new position', () => {
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

  it('cannot be removed from a triangle', () => {
    const [first] = verticesOf(triangle);
    expect(first && removeVertex(triangle, first)).toBeNull();
  });

  it('are the corners of the bounding box for an ellipse, which stays an ellipse when a corner is moved', () => {
    const ellipse = createEllipse({ minX: 0, minY: 0, maxX: 10, maxY: 10 });
    const corner = verticesOf(ellipse)[2];
    if (corner === undefined) throw new Error('There are no vertices.');
    const moved = moveVertex(ellipse, corner, [20, 30]);
    expect(moved).toMatchObject({ isEllipse: true });
    expect(boundsOf(moved)).toEqual({ minX: 0, minY: 0, maxX: 20, maxY: 30 });
  });
});
