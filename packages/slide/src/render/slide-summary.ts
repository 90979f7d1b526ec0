import { describeDeepZoom } from '../deep-zoom/deep-zoom.ts';
import { type Scale, scaleOf } from '../model/scale.ts';
import type { Slide } from '../model/slide.ts';

/**
 * The metadata of a slide that the server's catalogue stores; no value can identify a patient. `mpp` is the pixel size in
 * µm, `objectivePower` the magnification, `shownPlane` the focal plane and the time point that viewers show, and
 * `boundsOrigin` the corner of the scanned area.
 */
export interface SlideSummary
  extends Pick<
    Slide,
    'format' | 'fingerprint' | 'vendor' | 'mpp' | 'objectivePower' | 'shownPlane' | 'boundsOrigin'
  > {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Tile size of the Deep Zoom descriptor, in pixels. */
  readonly tileSize: number;
  /** Includes an estimate where `mpp` or `objectivePower` is null; `scale.derived` names the estimated value. */
  readonly scale: Scale;
  /** Number of levels in the file. */
  readonly levels: number;
}

export function summariseSlide(slide: Slide): SlideSummary {
  const { format, fingerprint, vendor, mpp, objectivePower, shownPlane, boundsOrigin, levels } = slide;
  const { width, height, tileSize } = describeDeepZoom(slide);
  return {
    format,
    fingerprint,
    vendor,
    mpp,
    objectivePower,
    width,
    height,
    tileSize,
    scale: scaleOf(slide),
    levels: levels.length,
    ...(shownPlane !== undefined && { shownPlane }),
    ...(boundsOrigin !== undefined && { boundsOrigin }),
  };
}
