/** The Chromium that the browser tests run in: the system's own, nothing is downloaded by Playwright. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, Stop } from './runtime.mjs';

/** @throws Stop when there is none and it cannot be installed */
export async function findChromium() {
  const found = known();
  if (found) return found;
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.log('Installing Chromium for the browser tests …');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run(['apt-get', 'update', '-qq'], { env });
    await run(['apt-get', 'install', '-qq', '-y', '--no-install-recommends', 'chromium'], { env });
  }
  const installed = known();
  if (!installed) {
    throw new Stop(
      'The browser tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium) ' +
        'or name one by PLAYWRIGHT_CHROMIUM.',
    );
  }
  return installed;
}

function known() {
  const { PLAYWRIGHT_CHROMIUM: named } = process.env;
  if (named) {
    if (!existsSync(named)) throw new Stop(`PLAYWRIGHT_CHROMIUM names ${named}, which does not exist.`);
    return named;
  }
  return ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(onPath).find(Boolean);
}

/** @returns the file of a command, undefined when there is none */
export function onPath(command) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file));
}
