import { describeDeepZoom } from '../deep-zoom.ts';
import { type Scale, scaleOf } from '../scale.ts';
import type { Slide } from '../slide.ts';

/** What the catalogue keeps of a slide; nothing in it can name a patient. */
export interface SlideSummary
  extends Pick<Slide, 'format' | 'fingerprint' | 'vendor' | 'mpp' | 'objectivePower'> {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Of the Deep Zoom descriptor, in pixels. */
  readonly tileSize: number;
  /** Where `mpp` or `objectivePower` is null, what it probably is; `derived` names that one. */
  readonly scale: Scale;
  /** How many resolutions the file stores. */
  readonly levels: number;
}

export function summariseSlide(slide: Slide): SlideSummary {
  const { format, fingerprint, vendor, mpp, objectivePower, levels } = slide;
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
  };
}
