import { describe, expect, it, vi } from 'vitest';
import { combineOverlays } from './canvas-overlays.ts';

/** Adds canvases of 200 × 100 pixels to the page, one after the other. */
function addCanvases(count: number): HTMLCanvasElement[] {
  return Array.from({ length: count }, () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 200, height: 100 });
    document.body.append(canvas);
    return canvas;
  });
}

describe('combineOverlays (annotations and result layers on a saved picture)', () => {
  it('draws only the shown part of each canvas, with the opacity of the canvas, in the order of the DOM', () => {
    // jsdom has no 2D canvas.
    const drawn: {
      readonly canvas: unknown;
      readonly alpha: number;
      readonly x: number;
      readonly width: number;
    }[] = [];
    const context = {
      globalAlpha: 1,
      drawImage(canvas: unknown, x: number, _y: number, width: number) {
        drawn.push({ canvas, alpha: context.globalAlpha, x, width });
      },
    };
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(
      context as unknown as WebGL2RenderingContext,
    );
    const [right, left, annotations] = addCanvases(3) as [
      HTMLCanvasElement,
      HTMLCanvasElement,
      HTMLCanvasElement,
    ];
    const combined = combineOverlays([
      { canvas: annotations },
      { canvas: left, opacity: 0.6, span: { from: 0, to: 0.25 } },
      { canvas: right, opacity: 0.5, span: { from: 0.25, to: 1 } },
    ]);
    expect([combined?.width, combined?.height]).toEqual([200, 100]);
    expect(drawn).toEqual([
      { canvas: right, alpha: 0.5, x: 50, width: 150 },
      { canvas: left, alpha: 0.6, x: 0, width: 50 },
      { canvas: annotations, alpha: 1, x: 0, width: 200 },
    ]);
  });

  it('returns null when there are no overlays', () => {
    expect(combineOverlays([])).toBeNull();
  });
});
