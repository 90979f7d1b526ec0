/** The public face: opens slides, answers stored tiles, makes the others in processes of their own. */
export {
  type DeepZoomAddress,
  type DeepZoomDescriptor,
  describeDeepZoom,
  descriptorXml,
  readStoredTile,
  regionOfTile,
} from './deep-zoom.ts';
export { openServedSlide } from './making/served-slide.ts';
export type { SlideSummary } from './making/slide-summary.ts';
export { TileMaker, type TileMakerOptions } from './making/tile-maker.ts';
export { groupSlideFiles, openSlide } from './open-slide.ts';
export { type Allocate, type Slide, SlideError, type SlideErrorCode, type SlideLocation } from './slide.ts';
export type { ByteSource } from './source/byte-source.ts';
export { fingerprintOf, openFileSource } from './source/file-source.ts';
export { fingerprintOfVersions, versionOfFile, versionOfObject } from './source/fingerprint.ts';
export type { SlideGroup } from './source/slide-files.ts';
