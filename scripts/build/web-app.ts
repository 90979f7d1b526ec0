/**
 * The build of the web app with Vite, which `npm start`, `npm run build` and `npm test` run if its sources have changed since the last
 * build.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { root, run, ScriptExit, toolCommand } from '../launcher/runtime.mjs';

/** Folders and files that determine the content of the build. */
const sourceFolders = [
  'packages/web',
  'packages/contract',
  'packages/annotations',
  'packages/slide/src/names',
];
const sourceFiles = ['package-lock.json', 'tsconfig.base.json', 'packages/slide/package.json'];
/** Path of the file in which the last complete build has stored the fingerprint of its sources. */
const fingerprintFile = join(root, 'packages/web/dist/.built-from');

/** Builds the web app, unless it is up to date. @throws {ScriptExit} when the build fails; the message contains the output of the build */
export async function buildWebApp(): Promise<void> {
  const currentFingerprint = fingerprintOfSources();
  if (readFingerprintOfLastBuild() === currentFingerprint) return;
  console.log('Building the web app …');
  const { code, output } = await run(
    [...toolCommand('vite'), 'build', 'packages/web', '--logLevel', 'warn'],
    {
      capture: true,
    },
  );
  if (code !== 0) throw new ScriptExit(`${output}\nBuilding the web app failed, see above.`);
  compressFiles();
  // Written last, so that an interrupted build is repeated.
  writeFileSync(fingerprintFile, currentFingerprint);
}

/**
 * Writes a Brotli file and a gzip file beside each script and style at the highest compression level, so that the server need not compress
 * them for each response. The Brotli file of a script is a fifth smaller than the gzip file.
 */
function compressFiles(): void {
  const folder = join(root, 'packages/web/dist/assets');
  for (const name of readdirSync(folder).filter((name) => /\.(js|css)$/.test(name))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content)); // the default quality, 11, is the highest
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

/** Returns a hash of the names and contents of all sources of the web app. */
function fingerprintOfSources(): string {
  const hash = createHash('sha256');
  for (const file of [...sourceFolders.flatMap(filesIn), ...sourceFiles]) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Returns the paths of all files in a folder and its subfolders in a fixed order, without `dist` and `node_modules`. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.name !== 'dist' && entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : [path];
    });
}

/** Returns the fingerprint of the last complete build; null if there is none. */
function readFingerprintOfLastBuild(): string | null {
  try {
    return readFileSync(fingerprintFile, 'utf8');
  } catch {
    return null; // the file does not exist before the first complete build
  }
}
