import { areaOf, type Geometry, isArea, pathsOf } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import type { Placement } from '../overlay/placement.ts';
import type { PointerKeys } from '../slide-view.ts';
import { AnnotationStore } from './annotation-store.ts';
import { ChangeQueue } from './change-queue.ts';
import type { Tool } from './drafts.ts';
import { DrawingSession } from './drawing-session.ts';
import { HitIndex } from './hit-index.ts';
import { AnnotationPointer } from './pointer-tool.ts';

const tumor = { names: ['Tumor'], color: [200, 0, 0] } as const;
const nothing: Geometry = { type: 'MultiPoint', coordinates: [] };
const none: PointerKeys = { alt: false, shift: false };
const alt: PointerKeys = { alt: true, shift: false };
/** Two image pixels per screen pixel. */
const halfSize: Placement = { a: 0.5, b: 0, c: 0, d: 0.5, e: 0, f: 0 };

/** A person who draws on a slide without a server. */
function drawing(tool: Tool) {
  const done = async () => {};
  const queue = new ChangeQueue({
    storage: {
      load: async () => ({ changes: [], batches: [] }),
      saveChange: done,
      removeChange: done,
      startBatch: done,
      endBatch: done,
    },
    send: async () => ({ kind: 'unreachable' }),
    createLayer: () => Promise.reject(new Error('no server')),
    isSignedIn: () => false,
  });
  const store = new AnnotationStore('image', queue);
  const session = new DrawingSession(store);
  const hits = new HitIndex();
  store.listen((ids) => hits.invalidate(ids));
  session.choose(tool);
  const view = { placement: () => halfSize, size: () => ({ width: 1000, height: 800 }), picture: () => null };
  const pointer = new AnnotationPointer({ view, store, session, hits, isPanning: () => false, cursor: '' });
  const click = (x: number, y: number, keys = none) => {
    pointer.onMove({ x, y }, keys);
    pointer.onPress({ x, y }, keys);
    pointer.onRelease({ x, y }, keys);
  };
  const drag = (from: readonly [number, number], to: readonly [number, number], keys = none) => {
    pointer.onPress({ x: from[0], y: from[1] }, keys);
    for (let step = 1; step <= 10; step++) {
      const at = (index: 0 | 1) => from[index] + ((to[index] - from[index]) * step) / 10;
      pointer.onMove({ x: at(0), y: at(1) }, keys);
    }
    pointer.onRelease({ x: to[0], y: to[1] }, keys);
  };
  const geometries = () => store.all().map(({ feature }) => feature.geometry);
  const area = () => {
    const [geometry] = geometries();
    return geometry !== undefined && isArea(geometry) ? areaOf(geometry) : 0;
  };
  return { store, session, pointer, click, drag, geometries, area };
}

describe('drawing annotations', () => {
  it('creates a rectangle in image pixels when the pointer is dragged, and selects it', () => {
    const { store, drag, geometries } = drawing('rectangle');
    drag([10, 10], [60, 40]);
    expect(geometries()).toEqual([
      {
        type: 'Polygon',
        coordinates: [
          [
            [20, 20],
            [120, 20],
            [120, 80],
            [20, 80],
            [20, 20],
          ],
        ],
      },
    ]);
    expect(store.selection.size).toBe(1);
  });

  it('creates a rectangle by two clicks', () => {
    const { click, area } = drawing('rectangle');
    click(10, 10);
    click(60, 40);
    expect(area()).toBe(100 * 60);
  });

  it('creates an ellipse that QuPath recognises as one', () => {
    const { drag, geometries } = drawing('ellipse');
    drag([10, 10], [60, 40]);
    expect(geometries()[0]).toMatchObject({ type: 'Polygon', isEllipse: true });
  });

  it('completes a polygon with a click on its first corner', () => {
    const { click, geometries, area } = drawing('polygon');
    click(10, 10);
    click(60, 10);
    click(60, 60);
    expect(geometries()).toEqual([]);
    click(11, 11);
    expect(geometries()).toHaveLength(1);
    expect(area()).toBe((100 * 100) / 2);
  });

  it('draws a polygon freehand while the pointer is pressed', () => {
    const { pointer, geometries } = drawing('polygon');
    pointer.onPress({ x: 10, y: 10 }, none);
    for (const [x, y] of [
      [30, 10],
      [60, 10],
      [60, 60],
      [30, 60],
    ] as const) {
      pointer.onMove({ x, y }, none);
    }
    pointer.onRelease({ x: 10, y: 60 }, none);
    expect(geometries()).toHaveLength(1);
  });

  it('repairs a polygon whose edges cross', () => {
    const { click, geometries } = drawing('polygon');
    for (const [x, y] of [
      [0, 0],
      [50, 50],
      [50, 0],
      [0, 50],
      [0, 0],
    ] as const) {
      click(x, y);
    }
    expect(geometries()[0]).toMatchObject({ type: 'MultiPolygon' });
  });

  it('removes the last point of an unfinished polygon with Delete, and cancels the polygon with Escape', () => {
    const { session, click, geometries } = drawing('polygon');
    click(10, 10);
    click(60, 10);
    session.remove();
    expect(session.draft).toMatchObject({ kind: 'path', fixed: [[20, 20]] });
    session.cancel();
    expect(session.draft).toBeNull();
    expect(session.tool).toBe('polygon');
    expect(geometries()).toEqual([]);
  });

  it('adds the clicks of the points tool to one annotation', () => {
    const { click, geometries } = drawing('points');
    click(10, 10);
    click(30, 30);
    click(50, 50);
    expect(geometries()).toEqual([
      {
        type: 'MultiPoint',
        coordinates: [
          [20, 20],
          [60, 60],
          [100, 100],
        ],
      },
    ]);
  });

  it('paints with the brush, adds to the selected area in which the stroke begins, and erases with Alt', () => {
    const { store, drag, area } = drawing('brush');
    drag([100, 100], [200, 100]);
    const painted = area();
    expect(painted).toBeGreaterThan(0);
    drag([200, 100], [300, 100]);
    const larger = area();
    expect(store.all()).toHaveLength(1);
    expect(larger).toBeGreaterThan(painted);
    drag([100, 100], [150, 100], alt);
    expect(area()).toBeLessThan(larger);
    expect(store.all()).toHaveLength(1);
  });

  it('removes an annotation when the brush has erased all of it', () => {
    const { session, store, drag } = drawing('brush');
    drag([100, 100], [110, 100]);
    session.brushRadius = 100;
    drag([90, 100], [120, 100], alt);
    expect(store.all()).toEqual([]);
  });

  it('gives the chosen class to the selected annotations and to annotations that are drawn afterwards', () => {
    const { session, store, drag } = drawing('rectangle');
    session.classify(tumor);
    drag([10, 10], [60, 40]);
    expect(store.all()[0]?.feature.properties.classification).toEqual(tumor);
    session.classify(null);
    expect(store.all()[0]?.feature.properties.classification).toBeUndefined();
  });
});

describe('editing annotations', () => {
  function withSquare() {
    const here = drawing('rectangle');
    here.drag([10, 10], [60, 60]);
    here.session.choose('move');
    return here;
  }

  it('moves the selected annotation that is dragged from its inside', () => {
    const { store, drag } = withSquare();
    drag([30, 30], [40, 50]);
    expect(store.all()[0]?.bounds).toEqual({ minX: 40, minY: 60, maxX: 140, maxY: 160 });
  });

  it('lets a press beside the selected annotation move the slide', () => {
    const { pointer } = withSquare();
    pointer.onPress({ x: 300, y: 300 }, none);
    expect(pointer.leavesToSlide).toBe(true);
  });

  it('moves a vertex by dragging', () => {
    const { store, drag } = withSquare();
    drag([60, 60], [80, 90]);
    expect(store.all()[0]?.bounds).toEqual({ minX: 20, minY: 20, maxX: 160, maxY: 180 });
  });

  it('inserts a vertex with a double click on an edge, and removes that vertex with Delete', () => {
    const { session, geometries, click } = withSquare();
    const corners = () => pathsOf(geometries()[0] ?? nothing)[0]?.length;
    click(35, 11);
    click(35, 11);
    expect(corners()).toBe(6);
    click(35, 11);
    session.remove();
    expect(corners()).toBe(5);
  });

  it('selects the smallest annotation under a click, and clears the selection with a click beside all annotations', () => {
    const { session, store, drag, click } = drawing('rectangle');
    drag([10, 10], [200, 200]);
    drag([50, 50], [80, 80]);
    session.choose('move');
    store.select([]);
    click(60, 60);
    expect(store.selected()[0]?.bounds.minX).toBe(100);
    click(400, 400);
    expect(store.selection.size).toBe(0);
  });

  it('merges the selected areas into one annotation', () => {
    const { session, store, drag, area } = drawing('rectangle');
    drag([0, 0], [50, 50]);
    drag([25, 0], [75, 50]);
    store.select(store.all().map(({ id }) => id));
    session.combineSelected('merge');
    expect(store.all()).toHaveLength(1);
    expect(area()).toBe(150 * 100);
  });

  it('undoes and redoes the drawing and the deletion of an annotation', () => {
    const { session, store } = withSquare();
    session.removeSelected();
    expect(store.all()).toEqual([]);
    store.undo();
    expect(store.all()).toHaveLength(1);
    store.undo();
    expect(store.all()).toEqual([]);
    expect(store.canUndo).toBe(false);
    store.redo();
    expect(store.all()).toHaveLength(1);
  });

  it('does not change a locked annotation', () => {
    const { session, store } = withSquare();
    const [annotation] = store.selected();
    if (annotation === undefined) throw new Error('Nothing is selected.');
    const { feature } = annotation;
    store.change([
      { id: feature.id, feature: { ...feature, properties: { ...feature.properties, isLocked: true } } },
    ]);
    session.removeSelected();
    expect(store.all()).toHaveLength(1);
  });
});

describe('cutting annotations', () => {
  it('splits an area into two annotations of the same class, as one undo step', () => {
    const { store, session, drag, click } = drawing('rectangle');
    drag([10, 10], [110, 60]);
    session.classify(tumor);
    session.choose('cut');
    click(60, 0);
    click(60, 100);
    session.finish();
    expect(store.all()).toHaveLength(2);
    expect(store.all().map(({ feature }) => feature.properties.classification)).toEqual([tumor, tumor]);
    store.undo();
    expect(store.all()).toHaveLength(1);
  });

  it('changes nothing when the cutting line does not cross an area', () => {
    const { store, session, drag, click } = drawing('rectangle');
    drag([10, 10], [110, 60]);
    session.choose('cut');
    click(200, 0);
    click(200, 100);
    session.finish();
    expect(store.all()).toHaveLength(1);
  });
});
