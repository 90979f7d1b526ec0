import { expect, it } from 'vitest';
import { viewerSettings } from './viewer-settings.ts';

it.each([
  ['minimum zoom', viewerSettings.minZoomLevel, 0.1],
  ['maximum zoom', viewerSettings.maxZoomLevel, 10],
  ['initial zoom', viewerSettings.defaultZoomLevel, 0],
  ['visible part of the slide', viewerSettings.visibilityRatio, 0.5],
  ['animation time', viewerSettings.animationTime, 1],
  ['blend time', viewerSettings.blendTime, 0.1],
  ['size of the navigator', viewerSettings.navigatorSizeRatio, 0.15],
  ['number of cached tiles', viewerSettings.maxImageCacheCount, 200],
  ['time limit of a tile', viewerSettings.timeout, 120_000],
  ['preloading', viewerSettings.preload, true],
])('the viewer setting %s has the value of section 9 of the specification', (_, setting, specified) => {
  expect(setting).toBe(specified);
});
