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

it.each(['README.md', 'docs/operate.md'])('%s lists every setting of the server', (file) => {
  const [, section = ''] = /^## Settings$(.*?)^## /ms.exec(textOf(file)) ?? [];
  const firstColumn = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|')[1] ?? '');
  expect(namesIn(firstColumn.join('\n'), /`([A-Z][A-Z0-9_]+)`/g)).toEqual(settings);
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
