import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldOf, type Half, linkViews, type OpenedView } from './link-views.ts';
import type { Placement, Point } from './overlay/placement.ts';
import type { SlideField } from './view-address.ts';

const centre: Point = { x: 400, y: 300 };

/** As a slide is drawn: turned, zoomed, then mirrored about the middle of its place. */
function placementOf({ x, y, zoom, rotation, isMirrored }: SlideField): Placement {
  const angle = (rotation * Math.PI) / 180;
  const side = isMirrored ? -1 : 1;
  const a = side * zoom * Math.cos(angle);
  const b = zoom * Math.sin(angle);
  const c = side * -zoom * Math.sin(angle);
  const d = zoom * Math.cos(angle);
  return { a, b, c, d, e: centre.x - a * x - c * y, f: centre.y - b * x - d * y };
}

/** A view that jumps, and tells of it; on its way to somewhere else where it has a destination. */
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
  const unlink = linkViews({ first, second }, () => leader);
  return { first, second, unlink, lead: (half: Half) => (leader = half) };
}

describe('what is seen', () => {
  it('is read from where the slide is on the screen', () => {
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

describe('two linked views', () => {
  it('stay as they lie until one is moved', () => {
    const { first, second } = linked();
    expect([first.steps(), second.steps()]).toEqual([0, 0]);
  });

  it('move together, whichever of them is moved', () => {
    const { first, second, lead } = linked();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect(second.field().x).toBeCloseTo(550, 6);
    lead('second');
    second.view.moveTo({ ...second.field(), y: 620, zoom: 4 });
    expect(first.field()).toMatchObject({ zoom: 2 });
    expect(first.field().x).toBeCloseTo(150, 6);
    expect(first.field().y).toBeCloseTo(120, 6);
  });

  it('make one step for one step: following leads to nothing', () => {
    const { first, second } = linked();
    first.view.moveTo({ ...first.field(), x: 150 });
    expect([first.steps(), second.steps()]).toEqual([1, 1]);
  });

  it('keep together when the one that is not led is moved by something else, such as a window of another size', () => {
    const { first, second } = linked();
    second.view.moveTo({ ...second.field(), zoom: 1 });
    expect(second.field().zoom).toBeCloseTo(2, 9);
    expect(first.field().zoom).toBe(1);
  });

  it('go their own ways once they are unlinked, and keep what was aligned when they are linked again', () => {
    const { first, second, unlink } = linked();
    unlink();
    second.view.moveTo({ ...second.field(), x: 700 });
    expect(first.steps()).toBe(0);
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), x: 110 });
    expect(second.field().x).toBeCloseTo(710, 6);
  });

  it('are linked as they will lie, where one of them is still on its way', () => {
    const first = openedAt({ zoom: 0.4 }, { zoom: 0.5 });
    const second = openedAt({ zoom: 1 });
    linkViews({ first, second }, () => 'first');
    first.view.moveTo({ ...first.field(), zoom: 0.5 });
    expect(second.field().zoom).toBeCloseTo(1, 9);
  });
});
