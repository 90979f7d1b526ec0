/** `npm run check`: runs all static checks (format, lint, types, dependencies, spelling, lock file) and reports which failed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from '../launcher/install.mjs';
import { main, root, run, toolCommand } from '../launcher/runtime.mjs';
import { findRejectedWords } from './plain-language.ts';

/** A static check. It returns its errors as text, which is empty when the check passes. */
type Check = () => string | Promise<string>;

/** Folders with a tsconfig.json. */
const projects = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'e2e', 'scripts'];

/** Returns the registry URLs in the lock file as an error. If it has none, npm uses the registry that the user has configured. */
function findRegistryUrls(): string {
  const urls = readFileSync(join(root, 'package-lock.json'), 'utf8').match(/"resolved": "https?:.*"/g) ?? [];
  return urls.length === 0 ? '' : `package-lock.json contains registry URLs:\n${urls.join('\n')}`;
}

/** Returns a check that passes when the program exits with 0. */
const runsWithoutError =
  (commandLine: readonly string[]): Check =>
  async () => {
    const { code, output } = await run(commandLine, { capture: true });
    return code === 0 ? '' : output || `exit code ${code}`;
  };

const cspellCache = ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/cspell'];

const checks: readonly (readonly [name: string, check: Check])[] = [
  [
    'format and lint (biome)',
    runsWithoutError([...toolCommand('@biomejs/biome', 'biome'), 'ci', '--error-on-warnings', '.']),
  ],
  [
    'lint with types (oxlint)',
    runsWithoutError([...toolCommand('oxlint'), '--type-aware', '--deny-warnings']),
  ],
  ...projects.map(
    (project) =>
      [
        `types of ${project}`,
        runsWithoutError([...toolCommand('typescript', 'tsc'), '-p', project]),
      ] as const,
  ),
  [
    'dependency rules (dependency-cruiser)',
    runsWithoutError([
      ...toolCommand('dependency-cruiser', 'depcruise'),
      'packages',
      'e2e',
      '--output-type',
      'err-long',
    ]),
  ],
  ['unused code (knip)', runsWithoutError(toolCommand('knip'))],
  [
    'spelling (cspell, docs/words.txt)',
    runsWithoutError([...toolCommand('cspell'), 'lint', '--no-progress', '--no-summary', ...cspellCache]),
  ],
  ['plain language (docs/glossary.md)', findRejectedWords],
  [
    'lock file is complete',
    runsWithoutError([...npmCommand(), 'ci', '--dry-run', '--ignore-scripts', '--loglevel=error']),
  ],
  ['lock file contains no registry URLs', findRegistryUrls],
];

await main(async () => {
  const failed: string[] = [];
  for (const [name, check] of checks) {
    const errors = await check();
    console.log(`${errors ? '✗' : '✓'} ${name}`);
    if (errors) {
      console.log(errors.trimEnd());
      failed.push(name);
    }
  }
  console.log(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join('; ')}.`);
  return failed.length === 0 ? 0 : 1;
});
