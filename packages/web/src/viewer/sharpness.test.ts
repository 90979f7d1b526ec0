import OpenSeadragon from 'openseadragon';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lacksTiles } from './sharpness.ts';

const densityBefore = OpenSeadragon.pixelDensityRatio;
beforeEach(() => void Object.assign(OpenSeadragon, { pixelDensityRatio: 3 }));
afterEach(() => void Object.assign(OpenSeadragon, { pixelDensityRatio: densityBefore }));

it('lacksTiles (whether a visible tile has failed) uses the pixel ratio from the opening of the slide, not the one after a browser zoom', () => {
  vi.stubGlobal('devicePixelRatio', 3);
  const box = { x: 0, y: 0, width: 1, height: 1 };
  const viewer = {
    viewport: {
      getContainerSize: () => ({ x: 1000 }),
      getZoom: () => 1,
      getBounds: () => ({ getBoundingBox: () => box }),
    },
  };
  // Opened with 2 device pixels per CSS pixel. The slide is 3000 device pixels wide on the screen, so the level of 6000 pixels is drawn.
  const image = { minPixelRatio: 0.5, source: { dimensions: { x: 6000 }, minLevel: 0, maxLevel: 13 } };
  const lacks = (level: number) =>
    lacksTiles(viewer as never, image as never, [{ tiledImage: image, level, bounds: box }] as never);
  expect([lacks(13), lacks(12)]).toEqual([true, false]);
});
