/**
 * The Chromium for browser tests and benchmarks. It is a package of the operating system, because the project does not let Playwright
 * download one.
 */
import { existsSync } from 'node:fs';
import { run, ScriptExit } from '../launcher/runtime.mjs';
import { findCommand } from './find-command.ts';

/** Command of the headless build of Chromium. A page takes about two thirds of the processor time that it takes in the full browser. */
const headlessShell = 'chromium-headless-shell';

/**
 * Returns the path of the browser for tests: the value of PLAYWRIGHT_CHROMIUM if it is set, else the headless shell, else Chromium.
 * Without PLAYWRIGHT_CHROMIUM, first installs a missing headless shell with apt-get when this process runs as root.
 *
 * @throws {ScriptExit} (ends the script with a message) when PLAYWRIGHT_CHROMIUM names no file, or no browser can be installed
 */
export async function findTestBrowser(): Promise<string> {
  const { PLAYWRIGHT_CHROMIUM: configured } = process.env;
  if (configured) return findChromium(); // checks that the file exists
  if (!findCommand(headlessShell)) await installPackage(headlessShell);
  return findCommand(headlessShell) ?? findChromium();
}

/**
 * Returns the path of Chromium: PLAYWRIGHT_CHROMIUM if it is set, else an installed one. If there is none, installs it with apt-get when
 * this process runs as root.
 *
 * @throws {ScriptExit} (ends the script with a message) when PLAYWRIGHT_CHROMIUM names no file, or Chromium cannot be installed
 */
export async function findChromium(): Promise<string> {
  const alreadyInstalled = findConfiguredOrInstalled();
  if (alreadyInstalled) return alreadyInstalled;
  await installPackage('chromium');
  const installed = findConfiguredOrInstalled();
  if (!installed) {
    throw new ScriptExit(
      'The browser tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium) ' +
        'or set PLAYWRIGHT_CHROMIUM to its path.',
    );
  }
  return installed;
}

/**
 * Installs a Debian package if this process runs as root and has apt-get. Does not report failures; callers look for the program
 * afterwards.
 */
async function installPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0 || !findCommand('apt-get')) return;
  console.log(`Installing ${name} for the browser tests …`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run(['apt-get', 'update', '-qq'], { env });
  await run(['apt-get', 'install', '-qq', '-y', '--no-install-recommends', name], { env });
}

/** Returns PLAYWRIGHT_CHROMIUM, else an installed Chromium, else undefined. @throws {ScriptExit} if PLAYWRIGHT_CHROMIUM names no file */
function findConfiguredOrInstalled(): string | undefined {
  const { PLAYWRIGHT_CHROMIUM: configured } = process.env;
  if (configured) {
    if (!existsSync(configured)) {
      throw new ScriptExit(`PLAYWRIGHT_CHROMIUM is ${configured}, but that file does not exist.`);
    }
    return configured;
  }
  const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return commands.map(findCommand).find(Boolean);
}
