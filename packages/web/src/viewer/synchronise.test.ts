import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Calibration } from './scale.ts';
import { correspondingField, fieldOfFollower } from './synchronise.ts';
import type { SlideField } from './view-address.ts';

/** Returns the calibration of a slide with this pixel size in micrometres. */
const calibrated = (mpp: number): Calibration => ({ mpp, objectivePower: 10 / mpp, derived: null });
/** Returns a field around (1000, 2000) that differs in these values. */
const fieldWith = (field: Partial<SlideField> = {}): SlideField => ({
  x: 1000,
  y: 2000,
  zoom: 0.5,
  rotation: 0,
  isMirrored: false,
  ...field,
});

const fields: fc.Arbitrary<SlideField> = fc.record({
  x: fc.integer({ min: 0, max: 100_000 }),
  y: fc.integer({ min: 0, max: 100_000 }),
  zoom: fc.double({ min: 0.001, max: 4, noNaN: true }),
  rotation: fc.integer({ min: 0, max: 359 }),
  isMirrored: fc.boolean(),
});
const calibrations = fc.option(
  fc.record({
    mpp: fc.double({ min: 0.1, max: 2, noNaN: true }),
    mppY: fc.double({ min: 0.1, max: 2, noNaN: true }),
    objectivePower: fc.constant(20),
    derived: fc.constant(null),
  }),
);
const viewPositions = fc.record({ field: fields, calibration: calibrations });

function expectSameField(found: SlideField, expected: SlideField): void {
  expect(Math.hypot(found.x - expected.x, found.y - expected.y)).toBeLessThan(0.01);
  expect(found.zoom / expected.zoom).toBeCloseTo(1, 9);
  expect(Math.cos(((found.rotation - expected.rotation) * Math.PI) / 180)).toBeCloseTo(1, 9);
  expect(found.isMirrored).toBe(expected.isMirrored);
}

describe('fieldOfFollower (visible part of the follower, the slide that moves with the leader in a comparison)', () => {
  it('returns the unchanged field of the follower when the leader has not moved', () => {
    fc.assert(
      fc.property(viewPositions, viewPositions, (leader, follower) => {
        expectSameField(fieldOfFollower(leader, follower, leader.field), follower.field);
      }),
    );
  });

  it('converts the new field of the follower back to the new field of the leader when the two roles are exchanged', () => {
    fc.assert(
      fc.property(viewPositions, viewPositions, fields, (leader, follower, now) => {
        expectSameField(fieldOfFollower(follower, leader, fieldOfFollower(leader, follower, now)), now);
      }),
    );
  });

  it('returns the same field whether the leader moves in one step or in two, when both slides have a scale', () => {
    fc.assert(
      fc.property(viewPositions, viewPositions, fields, (leader, follower, now) => {
        const afterFirstStep = fieldOfFollower(leader, follower, now);
        const inTwoSteps = fieldOfFollower(
          { ...leader, field: now },
          { ...follower, field: afterFirstStep },
          { ...now, x: now.x + 10 },
        );
        const inOneStep = fieldOfFollower(leader, follower, { ...now, x: now.x + 10 });
        const isUncalibrated = leader.calibration === null || follower.calibration === null;
        if (isUncalibrated) expect(inTwoSteps.zoom).toBeCloseTo(inOneStep.zoom, 9);
        else expectSameField(inTwoSteps, inOneStep);
      }),
    );
  });

  it('moves the follower by the same distance in micrometres when both slides have a scale', () => {
    const leader = { field: fieldWith(), calibration: calibrated(0.25) };
    const follower = { field: fieldWith({ x: 300, y: 400 }), calibration: calibrated(0.5) };
    expect(fieldOfFollower(leader, follower, fieldWith({ x: 1200, y: 2040 }))).toMatchObject({
      x: 400,
      y: 420,
    });
  });

  it('moves the follower by the same distance on the screen when one slide has no scale', () => {
    const leader = { field: fieldWith({ zoom: 0.5 }), calibration: calibrated(0.25) };
    const follower = { field: fieldWith({ x: 300, y: 400, zoom: 0.25 }), calibration: null };
    expect(fieldOfFollower(leader, follower, fieldWith({ x: 1100, y: 2000 }))).toMatchObject({
      x: 500,
      y: 400,
    });
  });

  it('zooms the follower by the same factor as the leader', () => {
    const leader = { field: fieldWith({ zoom: 0.5 }), calibration: null };
    const follower = { field: fieldWith({ zoom: 0.2 }), calibration: null };
    expect(fieldOfFollower(leader, follower, fieldWith({ zoom: 1 })).zoom).toBeCloseTo(0.4, 12);
  });

  it('moves a rotated follower in the same direction on the screen as the leader', () => {
    const leader = { field: fieldWith(), calibration: calibrated(0.25) };
    const follower = { field: fieldWith({ rotation: 90 }), calibration: calibrated(0.25) };
    // On a slide rotated by 90° clockwise, rightwards on the screen is upwards on the slide.
    const { x, y } = fieldOfFollower(leader, follower, fieldWith({ x: 1100 }));
    expect(x).toBeCloseTo(1000, 9);
    expect(y).toBeCloseTo(1900, 9);
  });

  it('negates the x movement and the rotation of the leader when only the follower is mirrored', () => {
    const leader = { field: fieldWith(), calibration: calibrated(0.25) };
    const follower = { field: fieldWith({ isMirrored: true }), calibration: calibrated(0.25) };
    expect(fieldOfFollower(leader, follower, fieldWith({ x: 1100, rotation: 90 }))).toMatchObject({
      x: 900,
      y: 2000,
      rotation: 270,
    });
  });

  it.each([
    [false, true],
    [true, false],
  ])(
    'mirrors the follower when the user mirrors the leader (follower mirrored before: %s, after: %s)',
    (before, after) => {
      const leader = { field: fieldWith(), calibration: null };
      const follower = { field: fieldWith({ isMirrored: before }), calibration: null };
      expect(fieldOfFollower(leader, follower, fieldWith({ isMirrored: true })).isMirrored).toBe(after);
    },
  );
});

describe('correspondingField (first field of a slide opened beside another one)', () => {
  const first = { field: fieldWith({ x: 6000, y: 4000, rotation: 30 }), width: 10_000, height: 8000 };

  it('returns a field with the same magnification, rotation and distance from the middle when both slides have a scale', () => {
    const second = { width: 6000, height: 4000, calibration: calibrated(0.5) };
    // The centre is 1000 pixels of 0.25 µm right of the middle of the first slide: 500 pixels of 0.5 µm on the second.
    expect(correspondingField({ ...first, calibration: calibrated(0.25) }, second)).toEqual(
      fieldWith({ x: 3500, y: 2000, zoom: 1, rotation: 30 }),
    );
  });

  it('returns the same field relative to the size of the slide when one slide has no scale', () => {
    const second = { width: 20_000, height: 16_000, calibration: null };
    expect(correspondingField({ ...first, calibration: calibrated(0.25) }, second)).toEqual(
      fieldWith({ x: 12_000, y: 8000, zoom: 0.25, rotation: 30 }),
    );
  });
});
