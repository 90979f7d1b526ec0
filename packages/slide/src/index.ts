/**
 * Public API of `@lamina/slide`: opens slides, reads native tiles (those sent exactly as the file stores them), and
 * renders all other tiles in separate processes.
 */
export type { ColourProfile, SlideColour } from './colour/slide-colour.ts';
export { kernelLandlockVersion, preventProcessInspection } from './confinement/kernel-protection.ts';
export {
  type DeepZoomAddress,
  type DeepZoomDescriptor,
  describeDeepZoom,
  descriptorXml,
  nativeDziLevels,
  readNativeDziTile,
  regionOfTile,
  sizeOfLevel,
} from './deep-zoom/deep-zoom.ts';
export {
  type OpenOriginal,
  type OriginalFile,
  type OriginalPlan,
  openOriginal,
  planOriginals,
} from './deidentify/originals.ts';
export { type InstalledLibraries, installedLibraries } from './formats/installed-libraries.ts';
export { type FolderLocation, fingerprintOf } from './location/open-slide-files.ts';
export { scaleOf } from './model/scale.ts';
export {
  type BufferAllocator,
  isTemporaryError,
  type PlaceOnGlass,
  type ShownPlane,
  type Slide,
  SlideError,
  type SlideErrorCode,
  type SlideLocation,
} from './model/slide.ts';
export { createBlockDiskCache } from './object-storage/block-disk-cache.ts';
export { createObjectReader, type ObjectReader } from './object-storage/object-reader.ts';
export {
  createObjectStore,
  type ListedObject,
  type ObjectMetadata,
  type ObjectStore,
  type ObjectStoreSettings,
} from './object-storage/object-store.ts';
export { groupSlideFiles, openSlide } from './open-slide.ts';
export {
  findNativeLevels,
  type NativeLevel,
  readNativeLevelTile,
  renderedTileCoding,
} from './render/native-levels.ts';
export type { TileColour } from './render/render-tile.ts';
export { isWithinViewLimits, maxViewPixels, maxViewSide, type View } from './render/render-view.ts';
export type { SlideSummary } from './render/slide-summary.ts';
export { fingerprintOfVersions, versionOfFile, versionOfObject } from './source/fingerprint.ts';
export { createOpenFiles, type OpenFiles } from './source/open-files.ts';
export type { SlideGroup } from './source/slide-files.ts';
export { RenderPool, type RenderPoolOptions } from './workers/render-pool.ts';
export type { Requester } from './workers/render-queue.ts';
export { openServedSlide } from './workers/served-slide.ts';
