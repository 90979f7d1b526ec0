/** Small slides for tests: built, not stored. */
export { buildCzi, type CziPlan } from './build-czi.ts';
export { buildDicom, type DicomPlan } from './build-dicom.ts';
export { buildSvs, type SvsPlan } from './build-svs.ts';
export { buildTiledTiff, type TiledTiffPlan } from './build-tiled-tiff.ts';
export { buildEts, buildVsi, type EtsPlan, type VsiStackPlan } from './build-vsi.ts';
