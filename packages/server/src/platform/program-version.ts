/** The version of this program, from its package.json. */
import fs from 'node:fs';

const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const programVersion = version;
