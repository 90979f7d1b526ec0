import { tileTimeoutMs } from './tile-loading.ts';

/**
 * Settings of OpenSeadragon, with the values that docs/requirements.md requires (NUM-5 to NUM-9). Times are in seconds,
 * but `timeout` is in ms. At zoom level 1, the slide is as wide as the viewer.
 */
export const viewerSettings = {
  minZoomLevel: 0.1,
  maxZoomLevel: 10,
  /** 0 shows the whole slide at first. */
  defaultZoomLevel: 0,
  /** Fraction of the viewer that the slide still covers when it is moved to the edge. */
  visibilityRatio: 0.5,
  animationTime: 1, // of a movement
  blendTime: 0.1, // fade-in of a new tile
  /** Size of the navigator, the small overview of the slide, as a fraction of the viewer. */
  navigatorSizeRatio: 0.15,
  /** Maximum number of tiles that OpenSeadragon keeps. */
  maxImageCacheCount: 200,
  timeout: tileTimeoutMs,
  preload: true, // tiles are loaded even while the slide is hidden
} as const;
