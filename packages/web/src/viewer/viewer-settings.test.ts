import { expect, it } from 'vitest';
import { viewerSettings } from './viewer-settings.ts';

it.each([
  ['the least zoom', viewerSettings.minZoomLevel, 0.1],
  ['the greatest zoom', viewerSettings.maxZoomLevel, 10],
  ['the zoom at first', viewerSettings.defaultZoomLevel, 0],
  ['the part of a slide that stays in view', viewerSettings.visibilityRatio, 0.5],
  ['the time of a movement', viewerSettings.animationTime, 1],
  ['the time of blending', viewerSettings.blendTime, 0.1],
  ['the size of the navigator', viewerSettings.navigatorSizeRatio, 0.15],
  ['the number of tiles kept', viewerSettings.maxImageCacheCount, 200],
  ['the time a tile may take', viewerSettings.timeout, 120_000],
  ['loading ahead', viewerSettings.preload, true],
])('%s is what section 9 of the specification says', (_, setting, specified) => {
  expect(setting).toBe(specified);
});
