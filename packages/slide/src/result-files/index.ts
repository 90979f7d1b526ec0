/**
 * The entry point `@lamina/slide/result-files`: the readers with which analysis results are imported. It is separate because each
 * import starts a worker thread, which would need 0.2 s to load the main entry point with all slide formats.
 */
export { readBulkAnnotations } from '../dicom/bulk-annotations.ts';
export { isDicom } from '../dicom/file-meta.ts';
export { openLabelMap } from '../dicom/label-map.ts';
export { isTemporaryError, SlideError } from '../model/slide.ts';
export { openFileSource } from '../source/file-source.ts';
export { openValueTiff, type ValueArray, type ValueImage, type ValueType } from '../tiff/value-image.ts';
