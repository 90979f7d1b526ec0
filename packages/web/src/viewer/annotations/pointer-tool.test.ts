import type { AnnotationFeature, Geometry, Position } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import type { Placement } from '../overlay/placement.ts';
import type { PointerKeys } from '../tool-pointer.ts';
import type { Tool } from './drafts.ts';
import { openDrawingMode } from './testing/drawing-mode.ts';
import { layerOf } from './testing/layer-of.ts';

const noKeys: PointerKeys = { alt: false, shift: false };
const shiftKey: PointerKeys = { alt: false, shift: true };
/** One image pixel per screen pixel. */
const fullZoom: Placement = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

/** Opens the drawing mode with a tool, on a slide with the given annotations, at `fullZoom`. */
function startDrawing(tool: Tool, shown: readonly Geometry[] = []) {
  const { store, session, pointer, geometries } = openDrawingMode(tool, fullZoom);
  const featureOf = (geometry: Geometry, index: number): AnnotationFeature => ({
    type: 'Feature',
    id: `6423a977-ffff-48db-affc-cd11632010f${index}`,
    geometry,
    properties: { objectType: 'annotation' },
  });
  const ids = store.change(shown.map((geometry, index) => ({ feature: featureOf(geometry, index) })));
  /** Changes the geometry of an annotation, as a change of another user does. */
  const setGeometry = (index: number, geometry: Geometry) =>
    store.change([{ id: ids[index] ?? '', feature: featureOf(geometry, index) }]);
  /** Touches a place with a finger, which reports no movement before it touches and none until it lifts. */
  const tap = ([x, y]: Position, keys = noKeys) => {
    pointer.onPress({ x, y }, keys);
    pointer.onRelease({ x, y }, keys);
  };
  /** Puts a first finger down, moves it along the positions, and then puts a second finger down, which begins a pinch. */
  const pinch = (...[first, ...next]: readonly [Position, ...Position[]]) => {
    pointer.onPress({ x: first[0], y: first[1] }, noKeys);
    for (const [x, y] of next) pointer.onMove({ x, y }, noKeys);
    pointer.onCancel();
    pointer.onRelease({ x: first[0], y: first[1] }, noKeys);
  };
  return { store, session, pointer, ids, setGeometry, tap, pinch, geometries };
}

/** Returns the outline of a rectangle, clockwise on the screen from its upper left corner. */
function rectangle(left: number, top: number, right: number, bottom: number): Geometry {
  const ring: readonly Position[] = [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
    [left, top],
  ];
  return { type: 'Polygon', coordinates: [ring] };
}

describe('AnnotationPointer (pointer of the drawing mode)', () => {
  it.each<Tool>(['rectangle', 'ellipse', 'brush', 'polygon', 'polyline', 'line', 'cut', 'points'])(
    'lets a drag with the tool %s move the slide when the user may only read the active layer',
    (tool) => {
      const { store, session, pointer, geometries } = startDrawing(tool);
      const mayAnnotate = false;
      store.receiveLayer(layerOf('locked', 'another user', mayAnnotate));
      store.chooseLayer('locked');
      pointer.onPress({ x: 10, y: 10 }, noKeys);
      expect(pointer.letsSlideMove).toBe(true);
      for (const x of [50, 100, 150]) pointer.onMove({ x, y: x + 20 }, noKeys);
      pointer.onRelease({ x: 150, y: 170 }, noKeys);
      expect([session.draft, geometries()]).toEqual([null, []]);
    },
  );

  it('puts a dragged annotation back to its place when the drag is cancelled', () => {
    const shown = rectangle(10, 10, 60, 60);
    const { store, pointer, ids, geometries } = startDrawing('move', [shown]);
    store.select(ids);
    pointer.onPress({ x: 30, y: 30 }, noKeys);
    pointer.onMove({ x: 130, y: 30 }, noKeys);
    pointer.onCancel();
    pointer.onPress({ x: 500, y: 500 }, noKeys);
    pointer.onMove({ x: 600, y: 500 }, noKeys);
    pointer.onRelease({ x: 600, y: 500 }, noKeys);
    expect(geometries()).toEqual([shown]);
  });
});

describe('AnnotationPointer (pointer of the drawing mode) when a pinch zooms the slide', () => {
  const corners: readonly Position[] = [
    [10, 10],
    [200, 10],
    [200, 200],
  ];

  it('keeps only those corners of an unfinished polygon that the user has tapped before the pinch', () => {
    const { session, tap, pinch } = startDrawing('polygon');
    for (const corner of corners) tap(corner);
    pinch([300, 300]);
    expect(session.draft).toMatchObject({ kind: 'path', placed: corners });
    pinch([300, 300], [310, 300], [320, 300]);
    expect(session.draft).toMatchObject({ kind: 'path', placed: corners });
  });

  it('keeps the corner of a rectangle that the user has tapped before the pinch', () => {
    const { tap, pinch, geometries } = startDrawing('rectangle');
    tap([10, 10]);
    pinch([300, 300], [310, 300]);
    tap([60, 40]);
    expect(geometries()).toEqual([rectangle(10, 10, 60, 40)]);
  });

  it('discards the brush stroke that the first finger of the pinch has begun', () => {
    const { session, pinch, geometries } = startDrawing('brush');
    pinch([300, 300], [320, 300]);
    expect(session.draft).toBeNull();
    expect(geometries()).toEqual([]);
  });
});

describe('AnnotationPointer (pointer of the drawing mode) on a touch screen', () => {
  it('draws a rectangle between two taps', () => {
    const { tap, geometries } = startDrawing('rectangle');
    tap([10, 10]);
    tap([60, 40]);
    expect(geometries()).toEqual([rectangle(10, 10, 60, 40)]);
  });

  it('draws a square between two taps while Shift is held', () => {
    const { tap, geometries } = startDrawing('rectangle');
    tap([10, 10], shiftKey);
    tap([60, 40], shiftKey);
    expect(geometries()).toEqual([rectangle(10, 10, 60, 60)]);
  });
});

describe('AnnotationPointer (pointer of the drawing mode) with the move tool', () => {
  it('selects a point annotation at its points and not at the places between them', () => {
    const points: Geometry = {
      type: 'MultiPoint',
      coordinates: [
        [100, 100],
        [500, 500],
      ],
    };
    const { store, tap, ids } = startDrawing('move', [points]);
    tap([300, 300]);
    expect(store.selection.size).toBe(0);
    tap([502, 500]);
    expect([...store.selection]).toEqual(ids);
  });

  it('leaves an outline unchanged when another user removes the vertex that is being dragged', () => {
    const pentagon: Geometry = {
      type: 'Polygon',
      coordinates: [
        [
          [100, 100],
          [200, 100],
          [200, 200],
          [150, 250],
          [100, 200],
          [100, 100],
        ],
      ],
    };
    const { store, pointer, ids, setGeometry, geometries } = startDrawing('move', [pentagon]);
    store.select(ids);
    pointer.onPress({ x: 100, y: 200 }, noKeys);
    pointer.onMove({ x: 90, y: 210 }, noKeys);
    setGeometry(0, rectangle(100, 100, 150, 150));
    const versionBefore = store.version;
    pointer.onMove({ x: 80, y: 220 }, noKeys);
    pointer.onRelease({ x: 80, y: 220 }, noKeys);
    expect(geometries()).toEqual([rectangle(100, 100, 150, 150)]);
    expect(store.version).toBe(versionBefore); // the release makes no change, which would be sent to the server
  });
});
