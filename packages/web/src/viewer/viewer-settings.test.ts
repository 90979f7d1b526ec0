import { expect, it } from 'vitest';
import { viewerSettings } from './viewer-settings.ts';

it.each([
  ['minZoomLevel', viewerSettings.minZoomLevel, 0.1],
  ['maxZoomLevel', viewerSettings.maxZoomLevel, 10],
  ['defaultZoomLevel', viewerSettings.defaultZoomLevel, 0],
  ['visibilityRatio', viewerSettings.visibilityRatio, 0.5],
  ['animationTime', viewerSettings.animationTime, 1],
  ['blendTime', viewerSettings.blendTime, 0.1],
  ['navigatorSizeRatio', viewerSettings.navigatorSizeRatio, 0.15],
  ['maxImageCacheCount', viewerSettings.maxImageCacheCount, 200],
  ['timeout', viewerSettings.timeout, 120_000],
  ['preload', viewerSettings.preload, true],
])(
  'the OpenSeadragon setting $0 is $2, as section 12 of docs/requirements.md requires',
  (_, setting, specified) => {
    expect(setting).toBe(specified);
  },
);
