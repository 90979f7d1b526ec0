/** Builds the web app, when it was built from other sources than those that stand here. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
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
  compressFiles();
  writeFileSync(stamp, current); // last, so that a build that was interrupted counts as none
}

/** Once, as small as it gets, so that nobody waits for it: of a script, brotli leaves four fifths of what gzip leaves. */
function compressFiles() {
  const folder = join(root, 'packages/web/dist/assets');
  for (const name of readdirSync(folder).filter((name) => /\.(js|css)$/.test(name))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
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
