import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { root, run, tool } from './runtime.mjs';

const made = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** The rules that a tree of files breaks. Files are named with what they import. */
async function brokenBy(files) {
  const folder = mkdtempSync(join(tmpdir(), 'lamina-architecture-'));
  made.push(folder);
  const write = (file, content) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  for (const module of ['openseadragon', 'kysely']) {
    write(`node_modules/${module}/package.json`, `{ "name": "${module}", "main": "index.js" }`);
    write(`node_modules/${module}/index.js`, '');
  }
  for (const [file, imports] of Object.entries(files)) {
    write(`packages/${file}`, imports.map((path) => `import '${path}';`).join('\n'));
  }
  const { output } = await run(
    [
      ...tool('dependency-cruiser', 'depcruise'),
      'packages',
      ...['--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json'],
    ],
    { cwd: folder, capture: true },
  );
  const { summary } = JSON.parse(output.slice(output.indexOf('{')));
  return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
}

it('code that keeps to the architecture breaks no rule', async () => {
  const broken = await brokenBy({
    'slide/src/slide.ts': [],
    'slide/src/formats/aperio.ts': ['../slide.ts', '../tiff/read.ts'],
    'slide/src/tiff/read.ts': ['../slide.ts'],
    'server/src/store/users.ts': ['kysely'],
    'server/src/routes/users.ts': ['../store/users.ts'],
    'web/src/viewer/SlideViewer.tsx': ['openseadragon'],
    'web/src/screens/login/Login.tsx': ['../../components/Field.tsx'],
    'web/src/components/Field.tsx': [],
  });
  expect(broken).toEqual([]);
});

it.each([
  ['a circle', { 'web/src/theme.ts': ['./colours.ts'], 'web/src/colours.ts': ['./theme.ts'] }, ['no-circle']],
  ['an import of nothing', { 'web/src/theme.ts': ['./colours.ts'] }, ['nothing-unresolved']],
  [
    'a format that imports another',
    { 'slide/src/formats/aperio.ts': ['./dicom.ts'], 'slide/src/formats/dicom.ts': [] },
    ['formats-never-import-each-other'],
  ],
  [
    'a screen that imports another',
    {
      'web/src/screens/login/Login.tsx': ['../register/Register.tsx'],
      'web/src/screens/register/Register.tsx': [],
    },
    ['screens-never-import-each-other'],
  ],
  [
    'a screen that knows OpenSeadragon',
    { 'web/src/screens/wsi-viewer/WsiViewer.tsx': ['openseadragon'] },
    ['only-the-viewer-knows-openseadragon'],
  ],
  [
    'a route that knows the database',
    { 'server/src/routes/users.ts': ['kysely'] },
    ['only-the-store-knows-the-database'],
  ],
  [
    'a rule of accounts that asks the store',
    { 'server/src/domain/account.ts': ['../store/users.ts'], 'server/src/store/users.ts': [] },
    ['server-points-one-way'],
  ],
  [
    'a component that calls the API',
    { 'web/src/components/Card.tsx': ['../api/users.ts'], 'web/src/api/users.ts': [] },
    ['web-points-one-way'],
  ],
  [
    'the slide library that knows the contract',
    { 'slide/src/slide.ts': ['../../contract/src/index.ts'], 'contract/src/index.ts': [] },
    ['slide-imports-nothing-of-ours'],
  ],
  [
    'another package entered by the window',
    { 'server/src/routes/users.ts': ['../../../contract/src/users.ts'], 'contract/src/users.ts': [] },
    ['packages-meet-at-their-public-face'],
  ],
  [
    'a product that uses what is written for tests',
    { 'server/src/app.ts': ['./testing/world.ts'], 'server/src/testing/world.ts': [] },
    ['no-tests-in-the-product'],
  ],
])('%s breaks a rule', async (_, files, rules) => {
  expect(await brokenBy(files)).toEqual(rules);
});
