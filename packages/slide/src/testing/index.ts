/** Test helpers for all packages: builders of slides, test object stores, and the expected outcomes of broken files. */
export { badSlides } from '../corpus/bad-slides.ts';
export { buildCzi, type CziPlan } from './build-czi.ts';
export { buildDicom, type DicomPlan } from './build-dicom.ts';
export { buildEndlessTiff } from './build-endless-tiff.ts';
export { buildIcc, type IccPlan } from './build-icc.ts';
export { layOutNdpi, ndpiBytes, ndpiDirectories } from './build-ndpi.ts';
export { buildSvs, type SvsPlan } from './build-svs.ts';
export { buildTiledTiff, type TiledTiffPlan } from './build-tiled-tiff.ts';
export { buildEts, buildVsi, type EtsPlan, type VsiStackPlan } from './build-vsi.ts';
export { pixelsOf } from './compare-pixels.ts';
export { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
export { type MemoryStore, memoryStore } from './memory-store.ts';
export { realSlide } from './real-slide.ts';
export { makeBucket, withoutObjectStore } from './test-bucket.ts';
