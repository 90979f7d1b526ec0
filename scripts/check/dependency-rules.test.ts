/**
 * Tests the rules about imports between folders and packages: dependency-cruiser checks small example files with the rules of the
 * project.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { root, run, toolCommand } from '../launcher/runtime.mjs';

/** Imports of each file, by its path below `packages`. */
type Imports = Readonly<Record<string, readonly string[]>>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Writes the files into a temporary folder and returns the names of the dependency rules that they break. */
async function findBrokenRules(files: Imports): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lamina-dependency-rules-'));
  folders.push(folder);
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  // The rules know these modules, which must therefore exist.
  for (const module of ['openseadragon', 'kysely']) {
    write(`node_modules/${module}/package.json`, `{ "name": "${module}", "main": "index.js" }`);
    write(`node_modules/${module}/index.js`, '');
  }
  for (const [file, imports] of Object.entries(files)) {
    write(`packages/${file}`, imports.map((path) => `import '${path}';`).join('\n'));
  }
  const { output } = await run(
    [
      ...toolCommand('dependency-cruiser', 'depcruise'),
      'packages',
      ...['--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json'],
    ],
    { cwd: folder, capture: true },
  );
  const { summary } = JSON.parse(output.slice(output.indexOf('{'))) as {
    summary: { violations: { rule: { name: string } }[] };
  };
  return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
}

describe('dependency rules (.dependency-cruiser.cjs)', () => {
  it('accept code that follows docs/architecture.md', async () => {
    const brokenRules = await findBrokenRules({
      'slide/src/model/slide.ts': [],
      'slide/src/formats/aperio.ts': ['../model/slide.ts', '../tiff/read.ts'],
      'slide/src/tiff/read.ts': ['../model/slide.ts'],
      'server/src/store/users.ts': ['kysely'],
      'server/src/routes/users.ts': ['../store/users.ts'],
      'web/src/viewer/SlideViewer.tsx': ['openseadragon'],
      'web/src/screens/login/Login.tsx': ['../../components/Field.tsx'],
      'web/src/components/Field.tsx': [],
    });
    expect(brokenRules).toEqual([]);
  });

  it.each([
    [
      'an import cycle',
      { 'web/src/browser/theme.ts': ['./colours.ts'], 'web/src/browser/colours.ts': ['./theme.ts'] },
      ['no-cycle'],
    ],
    [
      'an import of a missing file',
      { 'web/src/browser/theme.ts': ['./colours.ts'] },
      ['no-unresolved-import'],
    ],
    [
      'a slide format that imports another slide format',
      { 'slide/src/formats/aperio.ts': ['./dicom.ts'], 'slide/src/formats/dicom.ts': [] },
      ['formats-never-import-each-other'],
    ],
    [
      'a screen that imports another screen',
      {
        'web/src/screens/login/Login.tsx': ['../register/Register.tsx'],
        'web/src/screens/register/Register.tsx': [],
      },
      ['screens-never-import-each-other'],
    ],
    [
      'a screen that imports OpenSeadragon',
      { 'web/src/screens/wsi-viewer/WsiViewer.tsx': ['openseadragon'] },
      ['only-viewer-imports-openseadragon'],
    ],
    [
      'a route that imports Kysely',
      { 'server/src/routes/users.ts': ['kysely'] },
      ['only-store-imports-database-drivers'],
    ],
    [
      'a domain module that imports the store',
      { 'server/src/domain/account.ts': ['../store/users.ts'], 'server/src/store/users.ts': [] },
      ['server-layers'],
    ],
    [
      'a component that imports the API client',
      { 'web/src/components/Card.tsx': ['../api/users.ts'], 'web/src/api/users.ts': [] },
      ['web-layers'],
    ],
    [
      'a new file in the root of the server',
      { 'server/src/helpers.ts': [], 'server/src/app.ts': ['./helpers.ts'] },
      ['server-root-contains-only-composition'],
    ],
    [
      'a slide module that imports the contract',
      { 'slide/src/model/slide.ts': ['../../../contract/src/index.ts'], 'contract/src/index.ts': [] },
      ['slide-imports-no-other-package'],
    ],
    [
      'an import of a file inside another package',
      { 'server/src/routes/users.ts': ['../../../contract/src/users.ts'], 'contract/src/users.ts': [] },
      ['packages-import-only-entry-points'],
    ],
    [
      'a product module that imports test code',
      { 'server/src/app.ts': ['./testing/world.ts'], 'server/src/testing/world.ts': [] },
      ['no-tests-in-the-product'],
    ],
  ] satisfies [string, Imports, string[]][])('reject %s', async (_, files, rules) => {
    expect(await findBrokenRules(files)).toEqual(rules);
  });
});
