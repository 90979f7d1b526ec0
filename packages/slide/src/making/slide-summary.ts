import { describeDeepZoom } from '../deep-zoom.ts';
import type { Slide } from '../slide.ts';

/** What the catalogue keeps of a slide; nothing in it can name a patient. */
export interface SlideSummary
  extends Pick<Slide, 'format' | 'fingerprint' | 'vendor' | 'mpp' | 'objectivePower'> {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Of the Deep Zoom descriptor, in pixels. */
  readonly tileSize: number;
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
    levels: levels.length,
  };
}
