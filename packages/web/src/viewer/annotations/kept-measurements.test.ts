import { areaOf, isArea } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { featuresOfShapes } from './kept-measurements.ts';

/** A scale of 0.5 µm per pixel. */
const calibration = { mpp: 0.5, mppY: 0.5, objectivePower: 20, derived: null };

describe('featuresOfShapes (converts measurements to annotations)', () => {
  it('converts a ruler to a line and an area to a polygon', () => {
    const [line, polygon] = featuresOfShapes(
      [
        {
          kind: 'ruler',
          points: [
            { x: 1, y: 2 },
            { x: 3, y: 4 },
          ],
        },
        {
          kind: 'area',
          points: [
            { x: 0, y: 0 },
            { x: 10, y: 0 },
            { x: 10, y: 10 },
          ],
        },
      ],
      null,
    );
    expect(line?.geometry).toEqual({
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    });
    expect(polygon?.geometry.type).toBe('Polygon');
    expect(polygon && isArea(polygon.geometry) ? areaOf(polygon.geometry) : 0).toBe(50); // half of 10 × 10 pixels
  });

  it('converts a counting circle to an ellipse of one square millimetre', () => {
    const [circle] = featuresOfShapes([{ kind: 'circle', centre: { x: 5000, y: 5000 } }], calibration);
    const area = circle && isArea(circle.geometry) ? areaOf(circle.geometry) : 0;
    const areaInSquareMicrometres = area * 0.5 * 0.5;
    expect(areaInSquareMicrometres).toBeCloseTo(1_000_000, -3); // within 500 µm²
    expect(circle?.geometry).toMatchObject({ isEllipse: true });
  });

  it('returns one annotation for all marked cells', () => {
    const features = featuresOfShapes(
      [
        { kind: 'mark', centre: { x: 1, y: 1 } },
        { kind: 'mark', centre: { x: 2, y: 2 } },
      ],
      null,
    );
    expect(features.map(({ geometry }) => geometry)).toEqual([
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 1],
          [2, 2],
        ],
      },
    ]);
  });
});
