import { tileTimeoutMs } from './tile-loading.ts';

/** Settings of OpenSeadragon: section 9 of the product specification. In seconds, except `timeout` in ms. */
export const viewerSettings = {
  minZoomLevel: 0.1,
  maxZoomLevel: 10,
  /** The whole slide fits. */
  defaultZoomLevel: 0,
  visibilityRatio: 0.5,
  animationTime: 1,
  blendTime: 0.1,
  navigatorSizeRatio: 0.15,
  /** Tiles. */
  maxImageCacheCount: 200,
  timeout: tileTimeoutMs,
  preload: true,
} as const;
