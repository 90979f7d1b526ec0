import { tileTimeoutMs } from './tile-loading.ts';

/** What OpenSeadragon is told: section 9 of the product specification. Times in seconds but for `timeout`, in ms. */
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
