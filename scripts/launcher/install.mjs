// @ts-check
/** The installation of the npm packages of package-lock.json. scripts/run.mjs and scripts/start.mjs call it first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, ScriptExit } from './runtime.mjs';

/**
 * One entry of `packages` in package-lock.json.
 *
 * @typedef {{ readonly version?: string, readonly integrity?: string, readonly optional?: boolean }} LockedPackage
 */

/**
 * Returns whether exactly the packages of the lock file are installed, with the same versions and hashes.
 *
 * npm writes `node_modules/.package-lock.json` at the end of an installation, so an interrupted installation counts as
 * missing. Optional packages may be missing, because some are for other operating systems.
 *
 * @param {Readonly<Record<string, LockedPackage>>} locked `packages` of package-lock.json
 * @param {Readonly<Record<string, LockedPackage>>} installed `packages` of node_modules/.package-lock.json
 */
export function isInstalled(locked, installed) {
  // The entry with an empty path is the project itself.
  const lockedPackages = Object.entries(locked).filter(([path]) => path !== '');
  const areAllInstalled = lockedPackages.every(([path, lockedPackage]) => {
    const installedPackage = installed[path];
    if (!installedPackage) return lockedPackage.optional === true;
    const { version, integrity } = lockedPackage;
    return installedPackage.version === version && installedPackage.integrity === integrity;
  });
  const hasNoExtraPackages = Object.keys(installed).every((path) => path in locked);
  return areAllInstalled && hasNoExtraPackages;
}

/**
 * Installs the packages, unless the installed packages are those of the lock file.
 *
 * @throws {ScriptExit} when npm fails; npm has printed the reason
 */
export async function install() {
  const locked = packagesOf('package-lock.json');
  const installed = packagesOf(join('node_modules', '.package-lock.json'));
  if (locked && installed && isInstalled(locked, installed)) return;
  console.log('Installing packages (once, about a minute) …');
  // No package needs an install script, so install scripts are disabled. The packages that build the web app are development packages;
  // the `include` options install them also with NODE_ENV=production or with `omit` in the user's npm configuration.
  const options = ['--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
  const { code } = await run([...npmCommand(), 'ci', ...options]);
  if (code !== 0) throw new ScriptExit(`npm could not install the packages (exit code ${code}), see above.`);
}

/** Returns the command line of npm: of the npm that started this script, or else of the one in PATH. */
export function npmCommand() {
  const { npm_execpath: path = '' } = process.env;
  return /npm-cli\.c?js$/.test(path) ? [process.execPath, path] : ['npm'];
}

/**
 * Returns the field `packages` of a lock file.
 *
 * @param {string} file path below the root folder
 * @returns {Record<string, LockedPackage> | null} null when the file does not exist or is damaged, as after an interrupted installation
 */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
