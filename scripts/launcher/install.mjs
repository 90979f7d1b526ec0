// @ts-check
/** Installs the packages of the lock file when the installed packages differ from it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, Stop } from './runtime.mjs';

/**
 * One entry of `packages` in package-lock.json.
 *
 * @typedef {{ readonly version?: string, readonly integrity?: string, readonly optional?: boolean }} LockedPackage
 */

/**
 * Returns whether every package of the lock file is installed, in the version and with the content it names.
 *
 * npm writes `node_modules/.package-lock.json` at the end of an installation, so an interrupted installation counts as
 * none. Optional packages may be missing: some are for other operating systems.
 *
 * @param {Readonly<Record<string, LockedPackage>>} wanted `packages` of package-lock.json
 * @param {Readonly<Record<string, LockedPackage>>} installed `packages` of node_modules/.package-lock.json
 */
export function isInstalled(wanted, installed) {
  const packages = Object.entries(wanted).filter(([path]) => path !== '');
  return (
    packages.every(([path, locked]) => {
      const found = installed[path];
      if (!found) return locked.optional === true;
      return found.version === locked.version && found.integrity === locked.integrity;
    }) && Object.keys(installed).every((path) => path in wanted)
  );
}

/** @throws {Stop} when npm fails; npm has printed the reason */
export async function install() {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf(join('node_modules', '.package-lock.json'));
  if (wanted && installed && isInstalled(wanted, installed)) return;
  console.log('Installing packages (once, about a minute) …');
  // No package needs an install script, so none may run. NODE_ENV=production or an `omit` in the user's npm
  // configuration must not leave out the packages that build the web app.
  const options = ['--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
  const { code } = await run([...npm(), 'ci', ...options]);
  if (code !== 0) throw new Stop(`npm could not install the packages (exit code ${code}), see above.`);
}

/** Returns the command line of npm: the npm that runs this script, else the one in PATH. */
export function npm() {
  const { npm_execpath: path = '' } = process.env;
  return /npm-cli\.c?js$/.test(path) ? [process.execPath, path] : ['npm'];
}

/**
 * @param {string} file
 * @returns {Record<string, LockedPackage> | null} null when the file does not exist
 */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
