import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldOf, type Half, linkViews, type OpenedView } from './link-views.ts';
import type { Placement, Point } from './overlay/placement.ts';
import type { SlideField } from './view-address.ts';

const centre: Point = { x: 400, y: 300 };

/** Placement of a slide as it is drawn: rotated, zoomed, then mirrored about the middle of the viewer. */
function placementOf({ x, y, zoom, rotation, isMirrored }: SlideField): Placement {
  const angle = (rotation * Math.PI) / 180;
  const side = isMirrored ? -1 : 1;
  const a = side * zoom * Math.cos(angle);
  const b = zoom * Math.sin(angle);
  const c = side * -zoom * Math.sin(angle);
  const d = zoom * Math.cos(angle);
  return { a, b, c, d, e: centre.x - a * x - c * y, f: centre.y - b * x - d * y };
}

/** A view that moves at once and calls its watchers. @param destination the values in which its target differs while it moves */
function openedAt(field: Partial<SlideField>, destination: Partial<SlideField> = {}) {
  let now: SlideField = { x: 0, y: 0, zoom: 1, rotation: 0, isMirrored: false, ...field };
  let steps = 0;
  const watchers = new Set<() => void>();
  const opened: OpenedView = {
    calibration: { mpp: 0.5, objectivePower: 20, derived: null },
    view: {
      placement: () => placementOf(now),
      destination: () => ({ ...now, ...destination }),
      centre: () => centre,
      watch: (moved) => {
        watchers.add(moved);
        return () => watchers.delete(moved);
      },
      moveTo: (next) => {
        now = next;
        steps += 1;
        for (const tell of watchers) tell();
      },
    },
  };
  return { ...opened, field: () => now, steps: () => steps };
}

function linked() {
  const first = openedAt({ x: 100, y: 100 });
  const second = openedAt({ x: 500, y: 600, zoom: 2 });
  let leader: Half = 'first';
  const views = linkViews({ first, second }, () => leader);
  const unlink = () => views?.unlink();
  return { first, second, unlink, lead: (half: Half) => (leader = half) };
}

describe('fieldOf', () => {
  it('returns centre, zoom, rotation and mirror from the placement on the screen', () => {
    const fields = fc.record({
      x: fc.integer({ min: 0, max: 100_000 }),
      y: fc.integer({ min: 0, max: 100_000 }),
      zoom: fc.double({ min: 0.001, max: 4, noNaN: true }),
      rotation: fc.integer({ min: 0, max: 359 }),
      isMirrored: fc.boolean(),
    });
    fc.assert(
      fc.property(fields, (field) => {
        const found = fieldOf(placementOf(field), centre);
        expect(Math.hypot(found.x - field.x, found.y - field.y)).toBeLessThan(0.01);
        expect(found.zoom / field.zoom).toBeCloseTo(1, 9);
        expect(Math.cos(((found.rotation - field.rotation) * Math.PI) / 180)).toBeCloseTo(1, 9);
        expect(found.isMirrored).toBe(field.isMirrored);
      }),
    );
  });
});

describe('linkViews', () => {
  it('moves no view until the person moves one', () => {
    const { first, second } = linked();
    expect([first.steps(), second.steps()]).toEqual([0, 0]);
  });

  it('makes the second view follow the first one, and the first one follow the second one', () => {
    const { first, second, lead } = linked();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect(second.field().x).toBeCloseTo(550, 6);
    lead('second');
    second.view.moveTo({ ...second.field(), y: 620, zoom: 4 });
    expect(first.field()).toMatchObject({ zoom: 2 });
    expect(first.field().x).toBeCloseTo(150, 6);
    expect(first.field().y).toBeCloseTo(120, 6);
  });

  it('moves the follower once per step of the leader, and never moves the leader in return', () => {
    const { first, second } = linked();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect([first.steps(), second.steps()]).toEqual([1, 1]);
  });

  it('keeps both views aligned when the follower moves for another reason, such as a window resize', () => {
    const { first, second } = linked();
    second.view.moveTo({ ...second.field(), zoom: 1 });
    expect(second.field().zoom).toBeCloseTo(2, 9);
    expect(first.field().zoom).toBe(1);
  });

  it('lets both views move separately when unlinked, and keeps their alignment when linked again', () => {
    const { first, second, unlink } = linked();
    unlink();
    second.view.moveTo({ ...second.field(), x: 700 });
    expect(first.steps()).toBe(0);
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), x: 110 });
    expect(second.field().x).toBeCloseTo(710, 6);
  });

  it('uses the destination of a view that is still moving', () => {
    const first = openedAt({ zoom: 0.4 }, { zoom: 0.5 });
    const second = openedAt({ zoom: 1 });
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), zoom: 0.5 });
    expect(second.field().zoom).toBeCloseTo(1, 9);
  });

  it('completes a running movement of the leader in both views before the other side leads', () => {
    const first = openedAt({ zoom: 0.5 });
    const second = openedAt({ zoom: 0.4 }, { zoom: 0.5 });
    const views = linkViews({ first, second }, () => 'second');
    second.view.moveTo({ ...second.field(), zoom: 0.49 });
    expect(first.field().zoom).toBeCloseTo(0.49, 9);
    views?.completeMovement();
    expect([first.field().zoom, second.field().zoom]).toEqual([expect.closeTo(0.5, 9), 0.5]);
  });
});
