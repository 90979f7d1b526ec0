/** Finds the Chromium for browser tests and benches. It is a package of the system, because the project does not let Playwright download one. */
import { existsSync } from 'node:fs';
import { run, Stop } from '../launcher/runtime.mjs';
import { findCommand } from './find-command.ts';

/** Chromium without windows: a page takes two thirds of the processor time that it takes in the whole browser. */
const headlessShell = 'chromium-headless-shell';

/**
 * Returns the path of PLAYWRIGHT_CHROMIUM if it is set, otherwise of the headless shell, which is installed with apt-get
 * when this process runs as root, otherwise of Chromium.
 *
 * @throws {Stop} as `findChromium` does
 */
export async function findTestBrowser(): Promise<string> {
  const { PLAYWRIGHT_CHROMIUM: configured } = process.env;
  if (configured) return findChromium();
  if (!findCommand(headlessShell)) await installPackage(headlessShell);
  return findCommand(headlessShell) ?? findChromium();
}

/**
 * Returns the path of Chromium. Installs it with apt-get when this process runs as root.
 *
 * @throws {Stop} when Chromium is not installed and cannot be installed
 */
export async function findChromium(): Promise<string> {
  const found = findInstalled();
  if (found) return found;
  await installPackage('chromium');
  const installed = findInstalled();
  if (!installed) {
    throw new Stop(
      'The browser tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium) ' +
        'or set PLAYWRIGHT_CHROMIUM to its path.',
    );
  }
  return installed;
}

/** Installs a Debian package if this process runs as root and has apt-get. A failure is ignored; the caller looks for the program afterwards. */
async function installPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0 || !findCommand('apt-get')) return;
  console.log(`Installing ${name} for the browser tests …`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run(['apt-get', 'update', '-qq'], { env });
  await run(['apt-get', 'install', '-qq', '-y', '--no-install-recommends', name], { env });
}

function findInstalled(): string | undefined {
  const { PLAYWRIGHT_CHROMIUM: configured } = process.env;
  if (configured) {
    if (!existsSync(configured)) {
      throw new Stop(`PLAYWRIGHT_CHROMIUM is ${configured}, but that file does not exist.`);
    }
    return configured;
  }
  const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return commands.map(findCommand).find(Boolean);
}
