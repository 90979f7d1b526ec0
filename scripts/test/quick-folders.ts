/**
 * The folders whose tests `npm run test:quick` runs.
 *
 * A folder belongs here when its tests need only the test process: no server process, database server, browser, object storage, real
 * slides or large generated files. Together they take at most 60 s on two cores.
 */
export const quickFolders: readonly string[] = [
  'packages/annotations/src',
  'packages/contract/src',
  'packages/demo-slides/src/geometry',
  'packages/demo-slides/src/stain',
  'packages/demo-slides/src/structures',
  'packages/server/src/domain',
  'packages/slide/src/dicom',
  'packages/slide/src/jpeg',
  'packages/slide/src/tiff',
  'packages/slide/src/xml',
  'packages/web/src/api',
  'packages/web/src/viewer',
  'scripts/bench',
  'scripts/launcher',
  'scripts/test',
];
