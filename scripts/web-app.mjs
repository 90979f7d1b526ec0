/** Builds the web app, when it was built from other sources than those that stand here. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, Stop, tool } from './runtime.mjs';

const folders = ['packages/web', 'packages/contract'];
const files = ['package-lock.json', 'tsconfig.base.json'];
const stamp = join(root, 'packages/web/dist/.built-from');

/** @throws Stop when the build fails; it has said why */
export async function buildWebApp() {
  const current = fingerprint();
  if (readStamp() === current) return;
  console.log('Building the web app …');
  const { code, output } = await run([...tool('vite'), 'build', 'packages/web', '--logLevel', 'warn'], {
    capture: true,
  });
  if (code !== 0) throw new Stop(`${output}\nThe web app could not be built, see above.`);
  writeFileSync(stamp, current); // last, so that a build that was interrupted counts as none
}

/** Changes when any file changes that the web app is built from. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...folders.flatMap(filesIn), ...files]) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Every file under a folder, in a fixed order; what was built or installed is left out. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.name !== 'dist' && entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : [path];
    });
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return null; // not built yet
  }
}
