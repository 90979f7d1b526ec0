import { describe, expect, it } from 'vitest';
import { type Affine, inverseOf, registeredField } from './registered-field.ts';
import type { SlideField } from './view-address.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

function apply([a, b, c, d, e, f]: Affine, { x, y }: Point): Point {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

/** Returns the position of a point of the slide on the screen, in CSS pixels from the middle, when a field is visible. */
function screenPositionOf({ x, y, zoom, rotation, isMirrored }: SlideField, point: Point): Point {
  const angle = (rotation * Math.PI) / 180;
  const [right, down] = [(point.x - x) * zoom, (point.y - y) * zoom];
  const rotatedX = right * Math.cos(angle) - down * Math.sin(angle);
  return {
    x: isMirrored ? -rotatedX : rotatedX,
    y: right * Math.sin(angle) + down * Math.cos(angle),
  };
}

/** Returns a transformation that scales, rotates, optionally mirrors left and right first, and then moves by (40, −70). */
function similarity(scale: number, degrees: number, isReflected: boolean): Affine {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [scale * Math.cos(angle), scale * Math.sin(angle)];
  return isReflected ? [-cos, -sin, -sin, cos, 40, -70] : [cos, sin, -sin, cos, 40, -70];
}

describe('registeredField (visible part of another slide that shows the same tissue)', () => {
  it.each([
    [1, 0, false, 0, false],
    [2, 30, false, 0, false],
    [0.5, -75, false, 120, false],
    [1.5, 200, false, 45, true],
    [0.8, 15, true, 30, false],
    [1.2, -100, true, 270, true],
  ])(
    'returns a field with the same tissue at the same place of the screen (registration: scale %d, rotation %d°, reflected %s; view: rotation %d°, mirrored %s)',
    (scale, degrees, isReflected, rotation, isMirrored) => {
      const matrix = similarity(scale, degrees, isReflected);
      const field: SlideField = { x: 1000, y: 700, zoom: 0.4, rotation, isMirrored };
      const otherField = registeredField(matrix, field);
      for (const point of [
        { x: 1000, y: 700 },
        { x: 1300, y: 650 },
        { x: 900, y: 1200 },
      ]) {
        const position = screenPositionOf(field, point);
        const otherPosition = screenPositionOf(otherField, apply(matrix, point));
        expect(otherPosition.x).toBeCloseTo(position.x, 6);
        expect(otherPosition.y).toBeCloseTo(position.y, 6);
      }
    },
  );

  it('returns a field that the inverse registration converts back to the original field', () => {
    const matrix = similarity(1.7, 33, true);
    const inverse = inverseOf(matrix);
    const field: SlideField = { x: 5, y: 6, zoom: 2, rotation: 80, isMirrored: false };
    const back = inverse === null ? null : registeredField(inverse, registeredField(matrix, field));
    expect(back?.x).toBeCloseTo(field.x);
    expect(back?.y).toBeCloseTo(field.y);
    expect(back?.zoom).toBeCloseTo(field.zoom);
    expect(back?.rotation).toBeCloseTo(field.rotation);
    expect(back?.isMirrored).toBe(false);
  });
});

describe('inverseOf (inverse of a registration, the alignment of two slides)', () => {
  it('returns null for a transformation that maps the slide to a line', () => {
    expect(inverseOf([1, 1, 1, 1, 0, 0])).toBeNull();
  });
});
