/** The public face: opens slides, answers stored tiles, makes the others in processes of their own. */
export {
  type DeepZoomAddress,
  type DeepZoomDescriptor,
  describeDeepZoom,
  descriptorXml,
  readStoredTile,
  regionOfTile,
} from './deep-zoom.ts';
export { type InstalledLibraries, installedLibraries } from './installed-libraries.ts';
export { openServedSlide } from './making/served-slide.ts';
export type { SlideSummary } from './making/slide-summary.ts';
export { TileMaker, type TileMakerOptions } from './making/tile-maker.ts';
export { groupSlideFiles, openSlide } from './open-slide.ts';
export {
  type Allocate,
  isUnreachable,
  type Slide,
  SlideError,
  type SlideErrorCode,
  type SlideLocation,
} from './slide.ts';
export { createBlockShelf } from './source/block-shelf.ts';
export { fingerprintOfVersions, versionOfFile, versionOfObject } from './source/fingerprint.ts';
export { createObjectReader, type ObjectReader } from './source/object-reader.ts';
export {
  createObjectStore,
  type ListedObject,
  type ObjectFacts,
  type ObjectStore,
  type ObjectStoreSettings,
} from './source/object-store.ts';
export { keepFilesOpen, type OpenFiles } from './source/open-files.ts';
export type { SlideGroup } from './source/slide-files.ts';
export { type FolderLocation, fingerprintOf } from './source/slide-place.ts';
