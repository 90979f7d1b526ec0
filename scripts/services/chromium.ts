/** Finds the Chromium for the browser tests. The system's Chromium is used, and Playwright downloads none. */
import { existsSync } from 'node:fs';
import { run, Stop } from '../launcher/runtime.mjs';
import { findCommand } from './find-command.ts';

/**
 * Returns the path of Chromium. Installs it with apt-get when this process runs as root.
 *
 * @throws {Stop} when Chromium is not installed and cannot be installed
 */
export async function findChromium(): Promise<string> {
  const found = findInstalled();
  if (found) return found;
  if (process.getuid?.() === 0 && findCommand('apt-get')) {
    console.log('Installing Chromium for the browser tests …');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run(['apt-get', 'update', '-qq'], { env });
    await run(['apt-get', 'install', '-qq', '-y', '--no-install-recommends', 'chromium'], { env });
  }
  const installed = findInstalled();
  if (!installed) {
    throw new Stop(
      'The browser tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium) ' +
        'or set PLAYWRIGHT_CHROMIUM to its path.',
    );
  }
  return installed;
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
