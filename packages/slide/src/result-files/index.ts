/**
 * Second entry point of `@lamina/slide`: what the import of analysis results reads files with. Each import starts a worker thread, which
 * would need 0.2 s to load the first entry point with all slide formats.
 */
export { readBulkAnnotations } from '../dicom/bulk-annotations.ts';
export { isDicom } from '../dicom/file-meta.ts';
export { openLabelMap } from '../dicom/label-map.ts';
export { isTemporaryError, SlideError } from '../model/slide.ts';
export { openFileSource } from '../source/file-source.ts';
export { openValueTiff, type ValueArray, type ValueImage, type ValueType } from '../tiff/value-image.ts';
