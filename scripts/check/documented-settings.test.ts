/** Tests that the documents and the files for deployment name exactly the settings of the server (its environment variables). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { readConfig } from '../../packages/server/src/platform/config.ts';
import { root } from '../launcher/runtime.mjs';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
/** Returns the sorted matches of the first group of the pattern. */
const namesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '').sort();

// The part of config.ts that declares all settings.
const [, schemaText = ''] =
  /const Environment = z\.object\(\{(.*?)^\}\);/ms.exec(textOf('packages/server/src/platform/config.ts')) ??
  [];
const settings = namesIn(schemaText, /^ {2}([A-Z][A-Z0-9_]+):/gm);

it('.env.example lists every setting of the server', () => {
  expect(settings).toContain('SLIDES_DIR');
  expect(namesIn(textOf('.env.example'), /^([A-Z][A-Z0-9_]+)=/gm)).toEqual(settings);
});

it('.env.example contains the default value of every setting of the server', () => {
  expect(readConfig(parseEnv(textOf('.env.example')), root)).toEqual(readConfig({}, root));
});

/** Returns the names in the first column of the table of settings in a document. */
function settingsInTableOf(file: string): string[] {
  const [, section = ''] = /^## Settings$(.*?)^## /ms.exec(textOf(file)) ?? [];
  const firstColumn = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|')[1] ?? '');
  return namesIn(firstColumn.join('\n'), /`([A-Z][A-Z0-9_]+)`/g);
}

it('docs/operate.md lists every setting of the server', () => {
  expect(settingsInTableOf('docs/operate.md')).toEqual(settings);
});

it('README.md lists only settings that the server has', () => {
  const names = settingsInTableOf('README.md');
  expect(names).toContain('SLIDES_DIR');
  for (const name of names) expect(settings).toContain(name);
});

it.each(['deploy/compose.yaml', 'deploy/compose.many.yaml'])(
  '%s sets only settings that the server has',
  (file) => {
    const names = namesIn(textOf(file), /^ {4,6}([A-Z][A-Z0-9_]+): /gm).filter(
      (name) => !name.startsWith('POSTGRES_'),
    );
    expect(names).toContain('DATA_DIR');
    for (const name of names) expect(settings).toContain(name);
  },
);
