import { areaOf, type Geometry, isArea, pathsOf } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { renderHook } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Placement } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import type { PointerKeys } from '../tool-pointer.ts';
import type { AnnotationStore } from './annotation-store.ts';
import type { Tool } from './drafts.ts';
import { openDrawingMode } from './testing/drawing-mode.ts';
import { texts } from './texts.ts';
import { useAnnotationActions } from './use-annotation-actions.ts';
import type { SlideAnnotations } from './use-annotations.ts';

const tumor = { names: ['Tumor'], color: [200, 0, 0] } as const;
const emptyGeometry: Geometry = { type: 'MultiPoint', coordinates: [] };
const noKeys: PointerKeys = { alt: false, shift: false };
const altKey: PointerKeys = { alt: true, shift: false };
/** Two image pixels per screen pixel: a click at (10, 10) places a point at (20, 20) of the image. */
const halfZoom: Placement = { a: 0.5, b: 0, c: 0, d: 0.5, e: 0, f: 0 };

/**
 * Opens the drawing mode with a tool on a slide without annotations and without a server. `click` and `drag` take screen pixels;
 * `area` returns the area of the first annotation in square image pixels.
 */
function startDrawing(tool: Tool) {
  const { store, session, pointer, geometries } = openDrawingMode(tool, halfZoom);
  const click = (x: number, y: number, keys = noKeys) => {
    pointer.onMove({ x, y }, keys);
    pointer.onPress({ x, y }, keys);
    pointer.onRelease({ x, y }, keys);
  };
  const drag = (from: readonly [number, number], to: readonly [number, number], keys = noKeys) => {
    pointer.onPress({ x: from[0], y: from[1] }, keys);
    for (let step = 1; step <= 10; step++) {
      const fraction = step / 10;
      const x = from[0] + (to[0] - from[0]) * fraction;
      const y = from[1] + (to[1] - from[1]) * fraction;
      pointer.onMove({ x, y }, keys);
    }
    pointer.onRelease({ x: to[0], y: to[1] }, keys);
  };
  const area = () => {
    const [geometry] = geometries();
    return geometry !== undefined && isArea(geometry) ? areaOf(geometry) : 0;
  };
  return { store, session, pointer, click, drag, geometries, area };
}

describe('the drawing mode of the viewer (new annotations)', () => {
  it('creates and selects a rectangle in image pixels when the user drags with the rectangle tool', () => {
    const { store, drag, geometries } = startDrawing('rectangle');
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

  it('creates a rectangle from two clicks with the rectangle tool', () => {
    const { click, area } = startDrawing('rectangle');
    click(10, 10);
    click(60, 40);
    expect(area()).toBe(100 * 60);
  });

  it('creates a polygon marked as an ellipse for QuPath when the user drags with the ellipse tool', () => {
    const { drag, geometries } = startDrawing('ellipse');
    drag([10, 10], [60, 40]);
    expect(geometries()[0]).toMatchObject({ type: 'Polygon', isEllipse: true });
  });

  it('completes a polygon when the user clicks its first corner again', () => {
    const { click, geometries, area } = startDrawing('polygon');
    click(10, 10);
    click(60, 10);
    click(60, 60);
    expect(geometries()).toEqual([]);
    click(11, 11);
    expect(geometries()).toHaveLength(1);
    expect(area()).toBe((100 * 100) / 2);
  });

  it('draws a freehand polygon while the user drags with the polygon tool', () => {
    const { pointer, geometries } = startDrawing('polygon');
    pointer.onPress({ x: 10, y: 10 }, noKeys);
    for (const [x, y] of [
      [30, 10],
      [60, 10],
      [60, 60],
      [30, 60],
    ] as const) {
      pointer.onMove({ x, y }, noKeys);
    }
    pointer.onRelease({ x: 10, y: 60 }, noKeys);
    expect(geometries()).toHaveLength(1);
  });

  it('turns a new polygon whose edges cross into a MultiPolygon without crossing edges', () => {
    const { click, geometries } = startDrawing('polygon');
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

  it('removes the last point of an unfinished polygon on Delete and discards the polygon on Escape', () => {
    const { session, click, geometries } = startDrawing('polygon');
    click(10, 10);
    click(60, 10);
    session.remove();
    expect(session.draft).toMatchObject({ kind: 'path', placed: [[20, 20]] });
    session.cancel();
    expect(session.draft).toBeNull();
    expect(session.tool).toBe('polygon');
    expect(geometries()).toEqual([]);
  });

  it('collects all clicks with the points tool in one annotation', () => {
    const { click, geometries } = startDrawing('points');
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

  it('adds a brush stroke to the selected area, or subtracts the stroke while Alt is pressed', () => {
    const { store, drag, area } = startDrawing('brush');
    drag([100, 100], [200, 100]);
    const paintedArea = area();
    expect(paintedArea).toBeGreaterThan(0);
    drag([200, 100], [300, 100]);
    const extendedArea = area();
    expect(store.all()).toHaveLength(1);
    expect(extendedArea).toBeGreaterThan(paintedArea);
    drag([100, 100], [150, 100], altKey);
    expect(area()).toBeLessThan(extendedArea);
    expect(store.all()).toHaveLength(1);
  });

  it('removes an annotation when the brush has erased all of it', () => {
    const { session, store, drag } = startDrawing('brush');
    drag([100, 100], [110, 100]);
    session.brushRadius = 100;
    drag([90, 100], [120, 100], altKey);
    expect(store.all()).toEqual([]);
  });

  it('gives the chosen class to new annotations and to the selected annotations', () => {
    const { session, store, drag } = startDrawing('rectangle');
    session.classify(tumor);
    drag([10, 10], [60, 40]);
    expect(store.all()[0]?.feature.properties.classification).toEqual(tumor);
    session.classify(null);
    expect(store.all()[0]?.feature.properties.classification).toBeUndefined();
  });
});

describe('the drawing mode of the viewer (editing annotations)', () => {
  /** Opens the drawing mode with one selected square, from (20, 20) to (120, 120) in image pixels, and the move tool. */
  function startWithSquare() {
    const drawing = startDrawing('rectangle');
    drawing.drag([10, 10], [60, 60]);
    drawing.session.chooseTool('move');
    return drawing;
  }

  it('moves a selected area when the user drags from inside it', () => {
    const { store, drag } = startWithSquare(); // from (20, 20) to (120, 120)
    drag([30, 30], [40, 50]);
    expect(store.all()[0]?.bounds).toEqual({ minX: 40, minY: 60, maxX: 140, maxY: 160 });
  });

  it('moves and duplicates a cell together with its nucleus', () => {
    const { session, store, drag } = startWithSquare(); // from (20, 20) to (120, 120)
    const [square] = store.selected();
    if (square === undefined) throw new Error('Nothing is selected.');
    const nucleusGeometry: Geometry = { type: 'Point', coordinates: [50.004, 50] };
    store.change([{ id: square.id, feature: { ...square.feature, nucleusGeometry } }]);
    drag([30, 30], [40, 50]);
    session.duplicateSelected(5);
    expect(store.all().map(({ feature }) => feature.nucleusGeometry)).toEqual([
      { type: 'Point', coordinates: [70, 90] },
      { type: 'Point', coordinates: [75, 95] },
    ]);
  });

  it('lets the slide handle a press beside the selected annotation, so that the drag moves the slide', () => {
    const { pointer } = startWithSquare();
    pointer.onPress({ x: 300, y: 300 }, noKeys);
    expect(pointer.letsSlideMove).toBe(true);
  });

  it('moves a vertex of the selected annotation when the user drags the vertex', () => {
    const { store, drag } = startWithSquare();
    drag([60, 60], [80, 90]);
    expect(store.all()[0]?.bounds).toEqual({ minX: 20, minY: 20, maxX: 160, maxY: 180 });
  });

  it('inserts a vertex on a double click on an edge, and removes the clicked vertex on Delete', () => {
    const { session, geometries, click } = startWithSquare();
    /** Number of positions of the ring, which repeats its first position at the end. */
    const positionCount = () => pathsOf(geometries()[0] ?? emptyGeometry)[0]?.length;
    click(35, 11);
    click(35, 11);
    expect(positionCount()).toBe(6);
    click(35, 11);
    session.remove();
    expect(positionCount()).toBe(5);
  });

  it('deletes the selected annotation on Delete when the last clicked vertex belongs to another annotation', () => {
    const { session, store, drag, click, geometries } = startDrawing('rectangle');
    drag([100, 100], [160, 160]);
    drag([10, 10], [60, 60]);
    const [other] = store.all();
    session.chooseTool('move');
    click(10, 10); // a vertex of the second rectangle, which is selected
    store.select([other?.id ?? '']); // as the list does
    expect(session.chosenVertex).toBeNull();
    session.remove();
    expect(store.find(other?.id ?? '')).toBeUndefined();
    expect(geometries()).toMatchObject([{ coordinates: [{ length: 5 }] }]); // with all its vertices
  });

  it('selects the smallest annotation at a click, and clears the selection on a click beside all annotations', () => {
    const { session, store, drag, click } = startDrawing('rectangle');
    drag([10, 10], [200, 200]);
    drag([50, 50], [80, 80]);
    session.chooseTool('move');
    store.select([]);
    click(60, 60);
    expect(store.selected()[0]?.bounds.minX).toBe(100); // the smaller rectangle
    click(400, 400);
    expect(store.selection.size).toBe(0);
  });

  it('merges the selected areas into one annotation', () => {
    const { session, store, drag, area } = startDrawing('rectangle');
    drag([0, 0], [50, 50]);
    drag([25, 0], [75, 50]);
    store.select(store.all().map(({ id }) => id));
    session.combineSelected('merge');
    expect(store.all()).toHaveLength(1);
    expect(area()).toBe(150 * 100); // x from 0 to 150, y from 0 to 100 image pixels
  });

  it('undoes and redoes the drawing and the deletion of an annotation', () => {
    const { session, store } = startWithSquare();
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

  it('keeps a locked annotation when the user deletes the selection', () => {
    const { session, store } = startWithSquare();
    const [annotation] = store.selected();
    if (annotation === undefined) throw new Error('Nothing is selected.');
    const { id, feature } = annotation;
    store.change([{ id, feature: { ...feature, properties: { ...feature.properties, isLocked: true } } }]);
    session.removeSelected();
    expect(store.all()).toHaveLength(1);
  });
});

describe('the drawing mode of the viewer (layers)', () => {
  const layerOf = (id: string, owner: string, mayAnnotate = true) =>
    ({ id, owner, rights: { annotate: mayAnnotate, manage: false, lock: false } }) as AnnotationLayer;
  const areaId = '6423a977-ffff-48db-affc-cd11632010f0';
  const squareAt = (x: number) => [
    [
      [x, 20],
      [x + 100, 20],
      [x + 100, 120],
      [x, 120],
      [x, 20],
    ],
  ];

  /** Opens the user's own layer, which is active, and a colleague's layer, whose only area is selected. It has two squares. */
  async function startWithSharedArea() {
    const area = {
      type: 'Feature',
      id: areaId,
      geometry: { type: 'MultiPolygon', coordinates: [squareAt(20), squareAt(220)] },
      properties: { objectType: 'annotation', revision: 1, updated_by: 'colleague' },
    };
    vi.stubGlobal('fetch', async (url: string) =>
      Response.json({ features: url.includes('/shared/') ? [area] : [], authors: {}, version: 1 }),
    );
    const drawing = startDrawing('move');
    await drawing.store.setLayers([layerOf('shared', 'colleague'), layerOf('own', 'me')], 'me');
    drawing.store.select(drawing.store.all().map(({ id }) => id));
    return drawing;
  }
  const layersOf = (store: AnnotationStore) => store.all().map(({ layerId }) => layerId);

  it('keeps all pieces of a cut area in the layer of the area, also when another layer is active', async () => {
    const { store, session, click } = await startWithSharedArea();
    session.chooseTool('cut');
    click(0, 35);
    click(400, 35);
    session.finish();
    expect(store.activeLayerId).toBe('own');
    expect(layersOf(store)).toEqual(['shared', 'shared', 'shared', 'shared']);
  });

  it('keeps all parts of a split area in the layer of the area, also when another layer is active', async () => {
    const { store, session } = await startWithSharedArea();
    const { result } = renderHook(() =>
      useAnnotationActions({ store, session } as SlideAnnotations, {} as SlideView, () => {}),
    );
    result.current.split();
    expect(layersOf(store)).toEqual(['shared', 'shared']);
  });

  it('duplicates nothing and keeps the selection while the active layer is one on which the user may not draw', async () => {
    const { store, session } = await startWithSharedArea();
    await store.setLayers([layerOf('shared', 'colleague'), layerOf('locked', 'colleague', false)], 'me');
    store.chooseLayer('locked');
    session.duplicateSelected(10);
    expect(layersOf(store)).toEqual(['shared']);
    expect(store.selected().map(({ feature }) => feature.id)).toEqual([areaId]);
  });
});

describe('the cut tool of the drawing mode', () => {
  it('splits an area into two annotations of the same class in one undo step', () => {
    const { store, session, drag, click } = startDrawing('rectangle');
    drag([10, 10], [110, 60]);
    session.classify(tumor);
    session.chooseTool('cut');
    click(60, 0);
    click(60, 100);
    session.finish();
    expect(store.all()).toHaveLength(2);
    expect(store.all().map(({ feature }) => feature.properties.classification)).toEqual([tumor, tumor]);
    store.undo();
    expect(store.all()).toHaveLength(1);
  });

  it('changes nothing when the cutting line does not cross an area', () => {
    const { store, session, drag, click } = startDrawing('rectangle');
    drag([10, 10], [110, 60]);
    session.chooseTool('cut');
    click(200, 0);
    click(200, 100);
    session.finish();
    expect(store.all()).toHaveLength(1);
  });
});

describe('useAnnotationActions (actions of menus and keys in the drawing mode)', () => {
  /** Draws two rectangles, locks the first one and selects both. */
  function drawAndLock() {
    const { store, session, drag } = startDrawing('rectangle');
    drag([10, 10], [60, 60]);
    drag([100, 100], [160, 160]);
    const announce = vi.fn<(text: string) => void>();
    const unusedView = {} as SlideView;
    const { result } = renderHook(() =>
      useAnnotationActions({ store, session } as SlideAnnotations, unusedView, announce),
    );
    const [locked, unlocked] = store.all().map(({ id }) => id);
    store.select([locked ?? '']);
    result.current.setLocked(true);
    store.select([locked ?? '', unlocked ?? '']);
    return { store, actions: result.current, announce, locked };
  }

  it('the action remove keeps locked annotations and announces the number of removed annotations', () => {
    const { store, actions, announce, locked } = drawAndLock();
    actions.remove();
    expect(store.all().map(({ id }) => id)).toEqual([locked]);
    expect(announce.mock.calls).toEqual([[texts.removed(1)]]);
  });

  it('the action split keeps the selection when no selected annotation has several parts', () => {
    const { store, actions } = drawAndLock();
    actions.split();
    expect(store.selection.size).toBe(2);
  });
});
