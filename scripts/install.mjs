/** Installs the packages of the lock file, when what is installed differs from it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, Stop } from './runtime.mjs';

/**
 * Is everything of the lock file installed, in the version it names?
 *
 * npm writes what it installed to `node_modules/.package-lock.json` when it has finished, so an
 * installation that was interrupted counts as none. Optional packages are for other systems too.
 *
 * @param wanted `packages` of package-lock.json
 * @param installed `packages` of node_modules/.package-lock.json
 */
export function isInstalled(wanted, installed) {
  const places = Object.keys(wanted).filter((place) => place !== '');
  return (
    places.every((place) => {
      const found = installed[place];
      if (!found) return wanted[place].optional === true;
      return found.version === wanted[place].version && found.integrity === wanted[place].integrity;
    }) && Object.keys(installed).every((place) => place in wanted)
  );
}

/** @throws Stop when npm fails; it has said why */
export async function install() {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf(join('node_modules', '.package-lock.json'));
  if (wanted && installed && isInstalled(wanted, installed)) return;
  console.log('Installing packages (once, about a minute) …');
  // No package needs an install script, so none may run. NODE_ENV=production or an `omit` of the
  // user's must not leave out what builds the web app.
  const { code } = await run([
    ...npm(),
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--loglevel=error',
  ]);
  if (code !== 0) throw new Stop(`The packages could not be installed: npm ended with ${code}, see above.`);
}

/** The npm that runs this script, else the one of the PATH. */
export function npm() {
  const { npm_execpath: path = '' } = process.env;
  return /npm-cli\.c?js$/.test(path) ? [process.execPath, path] : ['npm'];
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
