import type { AnnotationFeature, Position } from '@lamina/annotations';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Annotation, annotationOf } from './annotation.ts';
import { AnnotationPainter } from './painter.ts';

/** Records the x coordinates at which the lines of a path begin. */
class FakePath {
  readonly starts: number[] = [];
  moveTo(x: number) {
    this.starts.push(x);
  }
  lineTo() {}
  closePath() {}
}
beforeEach(() => void vi.stubGlobal('Path2D', FakePath));

let lineCount = 0;
/** Returns an annotation with a vertical line that begins at (x, 0). */
function lineAt(x: number, vertexCount = 2, id = `id-${lineCount++}`): Annotation {
  const coordinates = Array.from({ length: vertexCount }, (_, i): Position => [x, i]);
  const feature: AnnotationFeature = {
    type: 'Feature',
    id,
    geometry: { type: 'LineString', coordinates },
    properties: { objectType: 'annotation' },
  };
  return annotationOf({ feature, layerId: 'layer', revision: 1, author: null, changedAt: 0 });
}

/** Draws a frame. @returns the x coordinates at which the drawn lines begin, one array per path */
function draw(painter: AnnotationPainter): { readonly paths: number[][]; readonly isIncomplete: boolean } {
  const paths: number[][] = [];
  const context = {
    setTransform() {},
    stroke: (path: FakePath) => paths.push([...path.starts]),
  } as unknown as CanvasRenderingContext2D;
  const placement = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  const isIncomplete = painter.draw(context, placement, { width: 2000, height: 2000, pixelRatio: 1 });
  return { paths, isIncomplete };
}

describe('AnnotationPainter (draws annotations on the canvas)', () => {
  it('draws all annotations of one colour with one path, including an annotation added after the first frame', () => {
    const painter = new AnnotationPainter();
    painter.reset([lineAt(1), lineAt(2)]);
    expect(draw(painter).paths).toEqual([[1, 2]]);
    painter.set('new', lineAt(3, 2, 'new'));
    expect(draw(painter).paths).toEqual([[1, 2, 3]]);
  });

  it('draws the new version of a changed annotation and does not draw a removed one', () => {
    const painter = new AnnotationPainter();
    const first = lineAt(1, 2, 'first');
    painter.reset([first, lineAt(2)]);
    draw(painter);
    painter.set(first.id, lineAt(7, 2, 'first'));
    expect(draw(painter).paths).toEqual([[2, 7]]);
    painter.set(first.id, null);
    expect(draw(painter).paths).toEqual([[2]]);
  });

  /** Returns a painter with three large lines. Each reading of its clock is 2 ms later, so 3 ms per frame allow one path. */
  function painterOfLargeLines(): AnnotationPainter {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now++ * 2);
    const painter = new AnnotationPainter();
    painter.reset([1, 2, 3].map((x) => lineAt(x, 20_000, `line-${x}`)));
    return painter;
  }

  it('builds the paths of three large annotations over several frames, because a frame has 3 ms for building paths', () => {
    const painter = painterOfLargeLines();
    expect(draw(painter)).toEqual({ paths: [[1]], isIncomplete: true });
    expect([draw(painter).isIncomplete, draw(painter).isIncomplete]).toEqual([true, false]);
  });

  it('draws an unchanged annotation also in a frame that is too short to build the paths of all changed annotations', () => {
    const painter = painterOfLargeLines();
    for (let frame = 1; frame <= 3; frame++) draw(painter); // builds one path per frame
    painter.set('line-1', lineAt(5, 20_000, 'line-1'));
    painter.set('line-2', lineAt(6, 20_000, 'line-2'));
    expect(draw(painter).paths.flat()).toEqual(expect.arrayContaining([3]));
  });
});
