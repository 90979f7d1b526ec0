/** `npm run check`: everything about the code that can be told without running it. Runs all, then reports. */
import './require-node.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, npm } from './install.mjs';
import { main, root, run, tool } from './runtime.mjs';

const projects = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'e2e'];

/** @returns what is wrong, empty when nothing is */
function findRegistryAddresses() {
  const addresses =
    readFileSync(join(root, 'package-lock.json'), 'utf8').match(/"resolved": "https?:.*"/g) ?? [];
  return addresses.length === 0 ? '' : `package-lock.json names registries:\n${addresses.join('\n')}`;
}

/** @returns a check that is passed when the program ends with 0 */
const passes = (commandLine) => async () => {
  const { code, output } = await run(commandLine, { capture: true });
  return code === 0 ? '' : output || `ended with ${code}`;
};

await main(async () => {
  await install();
  const checks = [
    [
      'format and lint (biome)',
      passes([...tool('@biomejs/biome', 'biome'), 'ci', '--error-on-warnings', '.']),
    ],
    ['lint with types (oxlint)', passes([...tool('oxlint'), '--type-aware', '--deny-warnings'])],
    ...projects.map((project) => [
      `types of ${project}`,
      passes([...tool('typescript', 'tsc'), '-p', project]),
    ]),
    [
      'direction of dependencies',
      passes([...tool('dependency-cruiser', 'depcruise'), 'packages', 'e2e', '--output-type', 'err-long']),
    ],
    ['unused code (knip)', passes(tool('knip'))],
    ['lock file is complete', passes([...npm(), 'ci', '--dry-run', '--ignore-scripts', '--loglevel=error'])],
    ['lock file names no registry', findRegistryAddresses],
  ];

  const failed = [];
  for (const [name, check] of checks) {
    const fault = await check();
    console.log(`${fault ? '✗' : '✓'} ${name}`);
    if (fault) {
      console.log(fault.trimEnd());
      failed.push(name);
    }
  }
  console.log(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join('; ')}.`);
  return failed.length === 0 ? 0 : 1;
});
