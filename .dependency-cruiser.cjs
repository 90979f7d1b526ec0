/**
 * Dependencies point one way: the table of docs/architecture.md, as rules.
 *
 * A layer may import what stands before it in its list, and nothing after it. Tests may build their
 * world from anything inside their own package.
 */

const tests = '[.]test[.]tsx?$|/testing/';

/** Forbids every layer what comes after it. A layer is a list of patterns under the package's `src`. */
const layered = (name, source, layers) =>
  layers.slice(0, -1).map((layer, place) => ({
    name: `${name}-points-one-way`,
    comment: `${layer.join(', ')} may not import what stands after it in docs/architecture.md.`,
    severity: 'error',
    from: { path: layer.map((part) => `^${source}/${part}`), pathNot: tests },
    to: {
      path: layers
        .slice(place + 1)
        .flat()
        .map((part) => `^${source}/${part}`),
    },
  }));

/** Nobody outside the folder may import these packages. */
const only = (name, folder, modules, alsoAllowed = []) => ({
  name,
  comment: `Only ${folder} knows ${modules.join(', ')}.`,
  severity: 'error',
  from: { path: '^packages/', pathNot: [`^${folder}`, ...alsoAllowed] },
  to: { path: modules.map((module) => `^node_modules/${module}/`) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-tests-in-the-product',
      comment: 'What is written for tests is not part of the product.',
      severity: 'error',
      from: { path: '^packages/', pathNot: tests },
      to: { path: tests },
    },
    ...['annotations', 'slide', 'server', 'web'].map((name) => ({
      name: `${name}-has-composition-only-in-its-root`,
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
      name: 'contract-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/contract/' },
      to: { path: '^packages/(annotations|slide|demo-slides|server|web)/' },
    },
    {
      name: 'annotations-imports-nothing-of-ours',
      comment: 'The server and the web app use the same rules of geometry and files.',
      severity: 'error',
      from: { path: '^packages/annotations/' },
      to: { path: '^packages/(contract|slide|demo-slides|server|web)/' },
    },
    {
      name: 'demo-slides-imports-nothing-of-ours',
      comment: 'Only its tests open the written slides with @lamina/slide.',
      severity: 'error',
      from: { path: '^packages/demo-slides/', pathNot: tests },
      to: { path: '^packages/(annotations|contract|slide|server|web)/' },
    },
    {
      name: 'slide-imports-nothing-of-ours',
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
      name: 'web-app-imports-contract-and-annotations-alone',
      comment: 'And the names of slide files, which import nothing.',
      severity: 'error',
      from: { path: '^packages/web/' },
      to: {
        path: '^packages/(slide|demo-slides|server)/',
        pathNot: '^packages/slide/src/names/slide-names[.]ts$',
      },
    },
    {
      name: 'packages-meet-at-their-public-face',
      comment: 'Another package is imported by its name, never by a file inside it.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: [
          '^packages/$1/',
          '/src/(index|testing)[.]ts$',
          '/src/testing/index[.]ts$',
          '^packages/slide/src/(scheduling/fair-queue|model/scale)[.]ts$',
          '^packages/slide/src/names/slide-names[.]ts$',
        ],
      },
    },
    {
      name: 'names-of-slide-files-import-nothing',
      comment: 'The web app imports them: nothing of Node may come along.',
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
      name: 'server-uses-slide-where-slides-are-served',
      severity: 'error',
      from: {
        path: '^packages/server/src/',
        pathNot: [
          tests,
          '^packages/server/src/(slide-storage|tiles|health|http|routes|doctor|dicomweb|iiif|originals|results)/',
          '^packages/server/src/services[.]ts$',
        ],
      },
      // Neither reads slides or imports anything; password hashing shares the fair queue (decisions/0010).
      to: {
        path: '^packages/slide/',
        pathNot: '^packages/slide/src/(scheduling/fair-queue|names/slide-names|model/scale)[.]ts$',
      },
    },
    only('only-the-viewer-knows-openseadragon', 'packages/web/src/viewer/', ['openseadragon']),
    only(
      'only-the-store-knows-the-database',
      'packages/server/src/store/',
      ['kysely', 'better-sqlite3', 'pg'],
      // What makes databases fail has to know them.
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
      ['index[.]ts$'],
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
    // TypeScript 7 has no API to parse with; without a parser of its own the cruise would find no file.
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
