import type { Geometry, Position } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import type { Placement } from '../overlay/placement.ts';
import type { PointerKeys } from '../slide-view.ts';
import type { Tool } from './drafts.ts';
import { openDrawingMode } from './testing/drawing-mode.ts';

const noKeys: PointerKeys = { alt: false, shift: false };
const shiftKey: PointerKeys = { alt: false, shift: true };
/** One image pixel per screen pixel. */
const fullZoom: Placement = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

/** Opens the drawing mode with a tool, on a slide with the given annotations, at `fullZoom`. */
function startDrawing(tool: Tool, shown: readonly Geometry[] = []) {
  const { store, session, pointer, geometries } = openDrawingMode(tool, fullZoom);
  const ids = shown.map((_, index) => `6423a977-ffff-48db-affc-cd11632010f${index}`);
  /** Changes the geometry of an annotation, as a change of another user does. */
  const setGeometry = (index: number, geometry: Geometry) => {
    const id = ids[index] ?? '';
    store.change([
      { id, feature: { type: 'Feature', id, geometry, properties: { objectType: 'annotation' } } },
    ]);
  };
  for (const [index, geometry] of shown.entries()) setGeometry(index, geometry);
  /** Touches a place with a finger, which reports no movement before it touches and none until it lifts. */
  const tap = ([x, y]: Position, keys = noKeys) => {
    pointer.onPress({ x, y }, keys);
    pointer.onRelease({ x, y }, keys);
  };
  /** Puts a first finger down, moves it along the positions, and then puts a second finger down, which begins a pinch. */
  const pinch = (...[first, ...next]: readonly [Position, ...Position[]]) => {
    pointer.onPress({ x: first[0], y: first[1] }, noKeys);
    for (const [x, y] of next) pointer.onMove({ x, y }, noKeys);
    pointer.onPinch();
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

describe('AnnotationPointer (pointer of the drawing mode) when a pinch zooms the slide', () => {
  const corners: readonly Position[] = [
    [10, 10],
    [200, 10],
    [200, 200],
  ];

  it('keeps the corners of an unfinished polygon, and drops the points that the first finger of the pinch has drawn', () => {
    const { session, tap, pinch } = startDrawing('polygon');
    for (const corner of corners) tap(corner);
    pinch([300, 300]);
    expect(session.draft).toMatchObject({ kind: 'path', fixed: corners });
    pinch([300, 300], [310, 300], [320, 300]);
    expect(session.draft).toMatchObject({ kind: 'path', fixed: corners });
  });

  it('keeps the first corner of a rectangle', () => {
    const { tap, pinch, geometries } = startDrawing('rectangle');
    tap([10, 10]);
    pinch([300, 300], [310, 300]);
    tap([60, 40]);
    expect(geometries()).toEqual([rectangle(10, 10, 60, 40)]);
  });

  it('draws nothing when the press of the first finger has begun the shape', () => {
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
