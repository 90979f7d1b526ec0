/** A check for words that docs/glossary.md replaces by standard terms. `npm run check` runs it on code, tests and documents. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../launcher/runtime.mjs';

/** The replacement of each rejected word or phrase. Words are also found within identifiers (`laneTiles`). */
const replacements: Readonly<Record<string, string>> = {
  nobody: 'the actor, or a passive sentence without one',
  somebody: 'the actor: user, account, administrator, process',
  whoever: 'the actor: user, account, administrator, process',
  anybody: 'the actor: user, account, administrator, process',
  'made tile': 'rendered tile',
  'stored tile': 'native tile (sent without decoding), or tile of the file',
  lane: 'fast path',
  shelf: 'disk cache, memory cache',
  trail: 'audit log, audit event',
  intake: 'ingest, reconcile, import',
  'taken in': 'ingested, reconciled, imported',
  belief: 'staleness limit, cache TTL',
  believed: 'trusted, cached',
  sealing: 'encryption at rest',
  sealed: 'encrypted',
  asker: 'requester, client',
  crowd: 'many users, many requests',
  mended: 'fixed, repaired',
  drawer: 'catch-all module',
  'gone on with': 'resumed',
  'brought back': 'restored',
  'given up': 'evicted, deleted, expired, aborted',
  'at hand': 'available',
  'of its own accord': 'automatically',
  'what is told': 'log, report',
  'is told that': 'receives, reads',
  'plain good case': 'fast path',
  'fault of ours': 'bug',
};

/** Files in which a rejected word is allowed, and why; `*` allows all words. */
const exceptions: readonly (readonly [file: RegExp, word: string, reason: string])[] = [
  [/^scripts\/check\/plain-language(\.test)?\.ts$/, '*', 'names the words'],
  [
    /^(packages\/web\/src\/viewer|scripts\/bench\/renderer)\/|^e2e\/(colours|other-viewers|pixels|renderer)|^docs\/(performance|architecture|decisions\/0019-.*)\.md$|^CHANGELOG\.md$/,
    'drawer',
    'a part of OpenSeadragon',
  ],
  [/\/(complete-jpeg|tiff-directories|write-pyramid)\.ts$/, 'lane', 'T. Lane is the author of a source'],
  [/^packages\/server\/src\/store\/migrations\//, '*', 'migrations never change'],
  [/^scripts\/services\/postgres\.ts$/, 'nobody', 'a system user'],
  [/^packages\/server\/src\/backup\//, 'sealed', 'sealedWith is a field of the backup format'],
  [/^packages\/server\/src\/platform\/encryption\.ts$/, 'sealing', 'a part of the derivation of the key'],
];

/** Glob patterns of the checked files. */
const checkedFiles = [
  '*.md',
  '{.dependency-cruiser.cjs,.dockerignore,.env.example,.npmrc,Dockerfile}',
  '{packages,e2e,scripts,docs,deploy}/**/*.{ts,tsx,mjs,md,css,html,sql,yaml,conf,service,py}',
];

/** Returns one line for each rejected word: file, line, word and replacement; empty when there is none. */
export function findRejectedWords(): string {
  const files = globSync(checkedFiles, {
    cwd: root,
    exclude: (path) => /(^|[\\/])(node_modules|dist)$/.test(path),
  }).map((file) => file.replaceAll('\\', '/'));
  return files.flatMap((file) => rejectedWordsIn(readFileSync(join(root, file), 'utf8'), file)).join('\n');
}

const matchers = Object.entries(replacements).map(([word, replacement]) => ({
  word,
  replacement,
  pattern: matcherOf(word),
}));

/** Returns a line for each rejected word in a text. A word in backticks is a name, such as the user `nobody`, and is not reported. */
export function rejectedWordsIn(text: string, file: string): string[] {
  const isException = (word: string) =>
    exceptions.some(
      ([files, allowedWord]) => (allowedWord === word || allowedWord === '*') && files.test(file),
    );
  // Most files have no match, so the lines are searched only for the words that the whole text contains.
  const foundWords = matchers.filter(({ word, pattern }) => pattern.test(text) && !isException(word));
  if (foundWords.length === 0) return [];
  return text.split('\n').flatMap((line, index) => {
    const prose = line.replaceAll(/`[\w.-]+`/g, '');
    return foundWords
      .filter(({ pattern }) => pattern.test(prose))
      .map(({ word, replacement }) => `${file}:${index + 1}: "${word}": write ${replacement}`);
  });
}

/** Returns a pattern that matches the word, its plural with s, and the word as part of an identifier in camel case. */
function matcherOf(word: string): RegExp {
  const [first = ''] = word;
  const remainingLetters = word.slice(1).replaceAll(' ', '\\s');
  return new RegExp(`(?:(?<![A-Za-z])${first}|${first.toUpperCase()})${remainingLetters}s?(?![a-z])`);
}
