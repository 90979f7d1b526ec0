/**
 * The rules of docs/architecture.md about imports, for dependency-cruiser.
 *
 * A layer may import the layers before it in its list, but none after it. Tests may import everything in their own package.
 */

const tests = '[.]test[.]tsx?$|/testing/';

/** Forbids each layer to import the layers after it. A layer is a list of path patterns below the package's `src`. */
const layered = (name, source, layers) =>
  layers.slice(0, -1).map((layer, place) => ({
    name: `${name}-layers`,
    comment: `${layer.join(', ')} may not import the layers after it in docs/architecture.md.`,
    severity: 'error',
    from: { path: layer.map((part) => `^${source}/${part}`), pathNot: tests },
    to: {
      path: layers
        .slice(place + 1)
        .flat()
        .map((part) => `^${source}/${part}`),
    },
  }));

/** Forbids all files outside the folder to import these packages. */
const only = (name, folder, modules, alsoAllowed = []) => ({
  name,
  comment: `Only ${folder} may import ${modules.join(', ')}.`,
  severity: 'error',
  from: { path: '^packages/', pathNot: [`^${folder}`, ...alsoAllowed] },
  to: { path: modules.map((module) => `^node_modules/${module}/`) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved-import',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-tests-in-the-product',
      comment: 'The product does not import test helpers.',
      severity: 'error',
      from: { path: '^packages/', pathNot: tests },
      to: { path: tests },
    },
    ...['annotations', 'slide', 'server', 'web'].map((name) => ({
      name: `${name}-root-contains-only-composition`,
      comment: 'A new file belongs to the folder of its subject.',
      severity: 'error',
      from: {},
      to: {
        path: `^packages/${name}/src/[^/]+[.]tsx?$`,
        pathNot: [
          tests,
          '^packages/annotations/src/index[.]ts$',
          '^packages/slide/src/(index|open-slide)[.]ts$',
          '^packages/server/src/(app|main|services)[.]ts$',
          '^packages/web/src/(App|Root|main|preload|routes|start)[.]tsx?$',
        ],
      },
    })),
    {
      name: 'contract-imports-no-other-package',
      severity: 'error',
      from: { path: '^packages/contract/' },
      to: { path: '^packages/(annotations|slide|demo-slides|server|web)/' },
    },
    {
      name: 'annotations-imports-no-other-package',
      comment: 'The server and the web app use the same rules of geometry and files.',
      severity: 'error',
      from: { path: '^packages/annotations/' },
      to: { path: '^packages/(contract|slide|demo-slides|server|web)/' },
    },
    {
      name: 'demo-slides-imports-no-other-package',
      comment: 'Only its tests open the written slides with @lamina/slide.',
      severity: 'error',
      from: { path: '^packages/demo-slides/', pathNot: tests },
      to: { path: '^packages/(annotations|contract|slide|server|web)/' },
    },
    {
      name: 'slide-imports-no-other-package',
      severity: 'error',
      from: { path: '^packages/slide/' },
      to: { path: '^packages/(annotations|contract|demo-slides|server|web)/' },
    },
    {
      name: 'server-never-imports-the-web-app',
      severity: 'error',
      from: { path: '^packages/server/' },
      to: { path: '^packages/web/' },
    },
    {
      name: 'web-app-imports-only-contract-and-annotations',
      comment: 'It may also import the names of slide files, which import nothing.',
      severity: 'error',
      from: { path: '^packages/web/' },
      to: {
        path: '^packages/(slide|demo-slides|server)/',
        pathNot: '^packages/slide/src/names/slide-names[.]ts$',
      },
    },
    {
      name: 'packages-import-only-entry-points',
      comment: 'Another package is imported by its name, never by a file inside it.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: [
          '^packages/$1/',
          '/src/(index|testing)[.]ts$',
          '/src/testing/index[.]ts$',
          '^packages/slide/src/(scheduling/fair-queue|model/scale|result-files/index)[.]ts$',
          '^packages/contract/src/result-limits[.]ts$',
          '^packages/slide/src/names/slide-names[.]ts$',
        ],
      },
    },
    {
      name: 'names-of-slide-files-import-nothing',
      comment: 'The web app imports these names, so they must not import Node modules.',
      severity: 'error',
      from: { path: '^packages/slide/src/names/', pathNot: tests },
      to: { pathNot: '^packages/slide/src/names/' },
    },
    {
      name: 'formats-never-import-each-other',
      severity: 'error',
      from: { path: '^packages/slide/src/formats/([^/.]+)', pathNot: tests },
      to: {
        path: '^packages/slide/src/formats/',
        pathNot: ['^packages/slide/src/formats/$1', '^packages/slide/src/formats/slide-format[.]ts$'],
      },
    },
    {
      name: 'screens-never-import-each-other',
      severity: 'error',
      from: { path: '^packages/web/src/screens/([^/]+)/' },
      to: { path: '^packages/web/src/screens/', pathNot: '^packages/web/src/screens/$1/' },
    },
    {
      name: 'server-imports-slide-only-in-listed-folders',
      severity: 'error',
      from: {
        path: '^packages/server/src/',
        pathNot: [
          tests,
          '^packages/server/src/(slide-storage|tiles|health|http|routes|doctor|dicomweb|iiif|originals|results)/',
          '^packages/server/src/services[.]ts$',
        ],
      },
      // These files neither read slides nor import anything; password hashing uses the fair queue, too (docs/decisions/0014).
      to: {
        path: '^packages/slide/',
        pathNot: '^packages/slide/src/(scheduling/fair-queue|names/slide-names|model/scale)[.]ts$',
      },
    },
    only('only-viewer-imports-openseadragon', 'packages/web/src/viewer/', ['openseadragon']),
    only(
      'only-store-imports-database-drivers',
      'packages/server/src/store/',
      ['kysely', 'better-sqlite3', 'pg'],
      // Tests that make a database fail need its driver.
      ['^packages/server/src/testing/', '^packages/server/src/system-tests/faults/.*[.]test[.]ts$'],
    ),
    ...layered('annotations', 'packages/annotations/src', [['model/'], ['geometry/'], ['formats/']]),
    ...layered('slide', 'packages/slide/src', [
      ['model/', 'names/', 'scheduling/'],
      ['source/', 'xml/'],
      ['jpeg/', 'object-storage/'],
      ['decode/', 'dicom/', 'location/'],
      ['colour/'],
      ['confinement/', 'czi/', 'deep-zoom/', 'openslide/', 'tiff/', 'vsi/'],
      ['deidentify/', 'formats/', 'render/'],
      ['open-slide[.]ts$'],
      ['workers/'],
      ['index[.]ts$', 'result-files/'],
      ['corpus/'],
    ]),
    ...layered('server', 'packages/server/src', [
      ['domain/', 'metrics/'],
      ['platform/'],
      ['store/'],
      ['jobs/', 'sessions/', 'slide-storage/'],
      ['audit/', 'mail/'],
      ['tiles/'],
      ['api-tokens/', 'backup/', 'datasets/', 'doctor/', 'health/', 'sign-in/', 'uploads/'],
      ['accounts/', 'catalogue/'],
      ['annotations/', 'cases/', 'dicomweb/', 'originals/', 'results/'],
      ['collections/'],
      ['share-links/'],
      ['iiif/'],
      ['commands/', 'services[.]ts$'],
      ['http/', 'processes/'],
      ['routes/'],
      ['app[.]ts$'],
      ['main[.]ts$'],
    ]),
    ...layered('web', 'packages/web/src', [
      ['browser/', 'language/', 'notifications/'],
      ['formatting/', 'forms/'],
      ['components/'],
      ['api/'],
      ['routing/', 'viewer/'],
      ['screens/', 'layouts/', 'Root[.]tsx$', 'App[.]tsx$'],
      ['routes[.]tsx$', 'preload[.]ts$'],
      ['start[.]tsx$'],
      ['main[.]ts$'],
    ]),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/dist/' },
    // TypeScript 7 has no parser API; without another parser, dependency-cruiser would find no module.
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
