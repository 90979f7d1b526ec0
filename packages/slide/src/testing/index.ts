/** Small slides for tests: built, not stored. */
export { buildDicom, type DicomPlan } from './build-dicom.ts';
export { buildSvs, type SvsPlan } from './build-svs.ts';
export { buildTiledTiff, type TiledTiffPlan } from './build-tiled-tiff.ts';
