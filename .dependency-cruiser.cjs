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
    {
      name: 'contract-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/contract/' },
      to: { path: '^packages/(slide|server|web)/' },
    },
    {
      name: 'slide-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/slide/' },
      to: { path: '^packages/(contract|server|web)/' },
    },
    {
      name: 'server-never-imports-the-web-app',
      severity: 'error',
      from: { path: '^packages/server/' },
      to: { path: '^packages/web/' },
    },
    {
      name: 'web-app-imports-contract-alone',
      severity: 'error',
      from: { path: '^packages/web/' },
      to: { path: '^packages/(slide|server)/' },
    },
    {
      name: 'packages-meet-at-their-public-face',
      comment: 'Another package is imported by its name, never by a file inside it.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: ['^packages/$1/', '/src/(index|testing)[.]ts$', '/src/testing/index[.]ts$'],
      },
    },
    {
      name: 'formats-never-import-each-other',
      severity: 'error',
      from: { path: '^packages/slide/src/formats/([^/.]+)', pathNot: tests },
      to: { path: '^packages/slide/src/formats/', pathNot: '^packages/slide/src/formats/$1' },
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
          '^packages/server/src/(slides|http|routes|doctor)/',
          '^packages/server/src/services[.]ts$',
        ],
      },
      to: { path: '^packages/slide/' },
    },
    only('only-the-viewer-knows-openseadragon', 'packages/web/src/viewer/', ['openseadragon']),
    only(
      'only-the-store-knows-the-database',
      'packages/server/src/store/',
      ['kysely', 'better-sqlite3', 'pg'],
      // What makes databases fail has to know them.
      ['^packages/server/src/testing/', '^packages/server/src/faults/.*[.]test[.]ts$'],
    ),
    ...layered('slide', 'packages/slide/src', [
      ['slide[.]ts$'],
      ['tiff/', 'dicom/', 'czi/', 'vsi/', 'openslide/', 'jpeg/', 'xml/', 'decode/', 'source/'],
      ['formats/'],
      ['open-slide[.]ts$', 'deep-zoom[.]ts$'],
      ['making/'],
    ]),
    ...layered('server', 'packages/server/src', [
      ['domain/'],
      ['store/'],
      ['jobs/'],
      [
        'slides/',
        'sign-in/',
        'mail/',
        'catalogue/',
        'demo/',
        'auditing/',
        'metrics/',
        'uploads/',
        '(accounts|audit|background|image-sessions)[.]ts$',
      ],
      ['services[.]ts$'],
      ['http/'],
      ['routes/'],
      ['app[.]ts$'],
      ['processes/', 'doctor/'],
      ['main[.]ts$'],
    ]),
    ...layered('web', 'packages/web/src', [
      ['components/'],
      ['api/', 'viewer/'],
      ['screens/', 'layouts/'],
      ['routes[.]tsx$'],
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
