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

/**
 * Returns a view that moves at once and calls its watchers.
 *
 * @param destination for a view that is moving: the values that `destination` returns instead of the current ones
 */
function createView(field: Partial<SlideField>, destination: Partial<SlideField> = {}) {
  let now: SlideField = { x: 0, y: 0, zoom: 1, rotation: 0, isMirrored: false, ...field };
  let steps = 0;
  const watchers = new Set<() => void>();
  const opened: OpenedView = {
    calibration: { mpp: 0.5, objectivePower: 20, derived: null },
    view: {
      placement: () => placementOf(now),
      destination: () => ({ ...now, ...destination }),
      centre: () => centre,
      watch: (onMove) => {
        watchers.add(onMove);
        return () => watchers.delete(onMove);
      },
      moveTo: (next) => {
        now = next;
        steps += 1;
        for (const onMove of watchers) onMove();
      },
    },
  };
  return { ...opened, field: () => now, steps: () => steps };
}

/** Links two views without a registration; the first one leads until `lead` is called. */
function linkTwoViews() {
  const first = createView({ x: 100, y: 100 });
  const second = createView({ x: 500, y: 600, zoom: 2 });
  let leader: Half = 'first';
  const views = linkViews({ first, second }, () => leader);
  const unlink = () => views?.unlink();
  return { first, second, unlink, lead: (half: Half) => (leader = half) };
}

describe('fieldOf (visible part of a slide)', () => {
  it('returns centre, zoom, rotation and mirroring from the position of a slide on the screen', () => {
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

describe('linkViews (of two compared slides, the follower moves with the leader)', () => {
  it('moves neither view until the user moves one of them', () => {
    const { first, second } = linkTwoViews();
    expect([first.steps(), second.steps()]).toEqual([0, 0]);
  });

  it('moves the second view when the user moves the first one, and vice versa', () => {
    const { first, second, lead } = linkTwoViews();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect(second.field().x).toBeCloseTo(550, 6);
    lead('second');
    second.view.moveTo({ ...second.field(), y: 620, zoom: 4 });
    expect(first.field()).toMatchObject({ zoom: 2 });
    expect(first.field().x).toBeCloseTo(150, 6);
    expect(first.field().y).toBeCloseTo(120, 6);
  });

  it('moves the follower once per step of the leader, and never moves the leader in return', () => {
    const { first, second } = linkTwoViews();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect([first.steps(), second.steps()]).toEqual([1, 1]);
  });

  it('moves the follower back to its aligned field when the follower moves by itself, such as when the window is resized', () => {
    const { first, second } = linkTwoViews();
    second.view.moveTo({ ...second.field(), zoom: 1 });
    expect(second.field().zoom).toBeCloseTo(2, 9);
    expect(first.field().zoom).toBe(1);
  });

  it('keeps, after the views are linked again, the offset by which one view was moved while unlinked', () => {
    const { first, second, unlink } = linkTwoViews();
    unlink();
    second.view.moveTo({ ...second.field(), x: 700 });
    expect(first.steps()).toBe(0);
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), x: 110 });
    expect(second.field().x).toBeCloseTo(710, 6);
  });

  it('keeps the follower in place while the leader finishes a movement that began before the views were linked', () => {
    const first = createView({ zoom: 0.4 }, { zoom: 0.5 });
    const second = createView({ zoom: 1 });
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), zoom: 0.5 });
    expect(second.field().zoom).toBeCloseTo(1, 9);
  });

  it('moves the leader and the follower to the end of a running movement at once when completeMovement is called', () => {
    const first = createView({ zoom: 0.5 });
    const second = createView({ zoom: 0.4 }, { zoom: 0.5 });
    const views = linkViews({ first, second }, () => 'second');
    second.view.moveTo({ ...second.field(), zoom: 0.49 });
    expect(first.field().zoom).toBeCloseTo(0.49, 9);
    views?.completeMovement();
    expect([first.field().zoom, second.field().zoom]).toEqual([expect.closeTo(0.5, 9), 0.5]);
  });
});
