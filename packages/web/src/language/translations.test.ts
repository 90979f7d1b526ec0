/** Checks that every visible text of the web app is in a `texts.ts` file, in Turkish and in English. */
import { auditActions, auditResults, errors } from '@lamina/contract';
import { type ESTree, parseSync } from 'vite';
import { describe, expect, it, vi } from 'vitest';

interface Words {
  readonly tr: object;
  readonly en: object;
}

/** The arguments of all calls of `wording`: the text catalogues, each in both languages. */
const catalogueTexts = vi.hoisted((): Words[] => []);
vi.mock(import('./language.ts'), async (original) => {
  const language = await original();
  return {
    ...language,
    wording: (words) => {
      catalogueTexts.push(words);
      return language.wording(words);
    },
    wordingByScreenLanguage: (words) => {
      catalogueTexts.push(words);
      return language.wordingByScreenLanguage(words);
    },
  };
});
const catalogues = import.meta.glob('../**/texts.ts', { eager: true });

/** Source texts of the web app by path. language.ts is left out: its language names are the same in both languages. */
const sources = import.meta.glob<string>(
  ['../**/*.{ts,tsx}', '!../**/*.test.{ts,tsx}', '!../**/testing/**', '!./language.ts'],
  {
    query: '?raw',
    import: 'default',
    eager: true,
  },
);

/** Texts that are the same in both languages: key names, file formats, shared words. */
const sharedTexts = new Set([
  'Home',
  'Shift + R',
  'Shift + S',
  'PNG',
  'JPEG',
  'QuPath (GeoJSON)',
  'GeoJSON',
  'ASAP (XML)',
  'Aperio ImageScope (XML)',
  'Ctrl + Z',
  'Ctrl + Shift + Z',
  'Enter',
  'Backspace',
  'Page Up',
  'Page Down',
  'Esc',
  'organ',
  'Organ',
]);
const turkishLetters = /[ğşıİĞŞçÇöÖüÜ]/;
/** Two letters that are not the unit µm: a text without them, such as "µm" or "×", may be the same in both languages. */
const wordsBesideUnits = /(?!µm)\p{L}{2}/u;

type SyntaxNode = Readonly<Record<string, unknown>> & { readonly type: string };

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode));
}

/** Returns the text of a string literal or template without its expressions; null for other nodes. */
function textOf(node: SyntaxNode): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type === 'TemplateLiteral') {
    return (node as unknown as ESTree.TemplateLiteral).quasis.map(({ value }) => value.cooked).join('');
  }
  return null;
}

/** Returns all constant texts in a node, joined. */
function textsIn(node: SyntaxNode): string {
  return [textOf(node), ...childrenOf(node).map(textsIn)].filter((text) => text !== null).join('');
}

/** Returns the constant parts of a text. A text with variable parts is a function. */
function wordsOf(text: unknown): string {
  if (typeof text !== 'function') return String(text);
  return textsIn(parseSync('text.js', `(${text.toString()})`).program as unknown as SyntaxNode);
}

/** Returns each text of a catalogue with its path, such as `sessionStatus.active`. */
function textsByPath(words: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof words !== 'object' || words === null) return [[path, wordsOf(words)]];
  return Object.entries(words).flatMap(([name, word]) =>
    textsByPath(word, path === '' ? name : `${path}.${name}`),
  );
}

/** Returns the translation errors of a pair of text catalogues, one line each. */
function translationErrorsOf({ tr, en }: Words): readonly string[] {
  const english = new Map(textsByPath(en));
  const turkish = new Map(textsByPath(tr));
  return [...new Set([...turkish.keys(), ...english.keys()])].flatMap((path) => {
    const [turkishText, englishText] = [turkish.get(path)?.trim(), english.get(path)?.trim()];
    if (turkishText === undefined || englishText === undefined) return `${path} is missing in one language`;
    if (turkishText === '' || englishText === '') return `${path} is empty`;
    if (turkishLetters.test(englishText)) return `${path} is Turkish: ${englishText}`;
    if (turkishText === englishText && wordsBesideUnits.test(englishText) && !sharedTexts.has(englishText)) {
      return `${path} is the same in both languages: ${englishText}`;
    }
    return [];
  });
}

describe('text catalogues of the interface', () => {
  it('contain every text in Turkish and in English', () => {
    expect(Object.keys(catalogues).length).toBeGreaterThanOrEqual(18);
    expect(catalogueTexts.length).toBeGreaterThanOrEqual(Object.keys(catalogues).length);
    expect(catalogueTexts.flatMap(translationErrorsOf)).toEqual([]);
  });

  it('contain none of the rejected Turkish terms, so that each concept has one term', () => {
    const rejectedTerms =
      /süzgeç|(?<!\p{L})süz(?:me)?(?!\p{L})|kestirim|denetim günlüğü|kareyi okut|hesabın (?:yok|var)/iu;
    const turkish = catalogueTexts.flatMap(({ tr }) => textsByPath(tr));
    expect(turkish.filter(([, text]) => rejectedTerms.test(text))).toEqual([]);
  });

  it.each([
    ['error messages', Object.entries(errors)],
    ['audit actions', Object.entries(auditActions)],
    ['audit results', Object.entries(auditResults)],
  ])('contain the %s of the API contract in both languages', (_, entries) => {
    const sentencesIn = (language: 'tr' | 'en') =>
      Object.fromEntries(entries.map(([name, sentences]) => [name, sentences[language]]));
    expect(translationErrorsOf({ tr: sentencesIn('tr'), en: sentencesIn('en') })).toEqual([]);
  });

  it.each([
    [
      'is missing in one language',
      { tr: { a: 'bir', b: 'iki' }, en: { a: 'one' } },
      'b is missing in one language',
    ],
    ['is empty', { tr: { a: 'bir' }, en: { a: ' ' } }, 'a is empty'],
    ['is Turkish in the English catalogue', { tr: { a: 'bir' }, en: { a: 'ışık' } }, 'a is Turkish: ışık'],
    [
      'is the same in both languages',
      { tr: { a: { b: 'one' } }, en: { a: { b: 'one' } } },
      'a.b is the same in both languages: one',
    ],
    [
      'is the same in both languages apart from its variable part',
      { tr: { a: (n: number) => `${n} files` }, en: { a: (n: number) => `${n} files` } },
      'a is the same in both languages: files',
    ],
  ])('are reported by the translation check when a text %s', (_, words, expectedError) => {
    expect(translationErrorsOf(words)).toEqual([expectedError]);
  });
});

/** Attributes and properties whose values the page shows or a screen reader reads. */
const userFacingNames = new Set([
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'aria-valuetext',
  'alt',
  'description',
  'hint',
  'label',
  'message',
  'navigationLabel',
  'nothingFoundMessage',
  'placeholder',
  'profileLabel',
  'logoutLabel',
  'title',
]);
/** Calls whose texts only developers see: console output and thrown errors. */
const developerCalls = /^(?:console\.|new (?:\w*Error|DOMException)$)/;
const letters = /\p{L}{2}/u;
/** Matches a text that begins like 'It is ready' or ends with punctuation. */
const sentence = /^\p{Lu}\p{Ll}* +\p{L}{2}|\p{Ll}[.!?…]$/u;

/** Returns visible texts that are literals in the source, and catalogue texts read at module level, which ignore the language. */
function strayTexts(file: string, source: string): readonly string[] {
  const { program } = parseSync(file, source);
  const found: string[] = [];
  const catalogueNames = new Set<string>();

  function visit(node: SyntaxNode, { isInFunction = false, isVisible = false } = {}): void {
    const { type } = node;
    if (type === 'ImportDeclaration') {
      const { source: importedFile, specifiers } = node as unknown as ESTree.ImportDeclaration;
      if (/(?:^|\/)texts\.ts$/.test(importedFile.value)) {
        for (const { local } of specifiers) catalogueNames.add(local.name);
      }
      return;
    }
    if (type.startsWith('TS') && !/^TS(?:As|Satisfies|NonNull)/.test(type)) return;
    if (
      type === 'CallExpression' &&
      (node as unknown as ESTree.CallExpression).callee.type === 'Identifier'
    ) {
      const { callee } = node as unknown as { callee: { name: string } };
      if (callee.name === 'wording' || callee.name === 'wordingByScreenLanguage') return;
    }
    if (developerCalls.test(calleeOf(node, source))) return;
    if (type === 'Identifier' && !isInFunction && catalogueNames.has(String(node.name))) {
      found.push(`${String(node.name)} is read when the file is loaded`);
    }
    const text = type === 'JSXText' ? String(node.value) : textOf(node);
    if (text !== null) {
      const isStray = isVisible || type === 'JSXText' ? letters.test(text) : sentence.test(text);
      if (isStray || turkishLetters.test(text)) found.push(text.trim());
    }
    for (const [name, value] of Object.entries(node)) {
      for (const child of (Array.isArray(value) ? value : [value]).filter(isNode)) {
        visit(child, {
          isInFunction: isInFunction || /Function/.test(type),
          isVisible: isVisibleIn(node, name, isVisible),
        });
      }
    }
  }

  visit(program as unknown as SyntaxNode);
  return found.map((text) => `${file}: ${text}`);
}

/** Returns 'console.warn' or 'new RangeError'; empty for other nodes. */
function calleeOf(node: SyntaxNode, source: string): string {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return '';
  const { callee } = node as unknown as ESTree.CallExpression;
  return `${node.type === 'NewExpression' ? 'new ' : ''}${source.slice(callee.start, callee.end)}`;
}

/** Returns whether a literal in this member of the node is visible: a child of an element, or the value of a visible attribute. */
function isVisibleIn(node: SyntaxNode, member: string, isVisible: boolean): boolean {
  switch (node.type) {
    case 'JSXElement':
    case 'JSXFragment':
      return member === 'children';
    case 'JSXAttribute':
      return member === 'value' && userFacingNames.has(String((node.name as SyntaxNode).name));
    case 'Property': {
      const { key } = node as unknown as { key: SyntaxNode };
      return member === 'value' && userFacingNames.has(String(key.name ?? key.value));
    }
    case 'ConditionalExpression':
      return member !== 'test' && isVisible;
    case 'LogicalExpression':
      return member === 'right' && isVisible;
    case 'JSXExpressionContainer':
    case 'TSAsExpression':
      return isVisible;
    default:
      return false;
  }
}

describe('visible texts of the web app', () => {
  it('are only in the texts.ts catalogues, which no module reads at import time', () => {
    expect(Object.keys(sources).length).toBeGreaterThan(100);
    const stray = Object.entries(sources).flatMap(([file, source]) => strayTexts(file, source));
    expect(stray).toEqual([]);
  });

  it.each([
    ['a literal between JSX tags', 'const a = () => <b>Hello there</b>;', 'Hello there'],
    ['a literal in a JSX expression', "const a = (is) => <b>{is ? 'Yes' : null}</b>;", 'Yes'],
    ['the literal value of a JSX attribute', 'const a = () => <b aria-label="close" />;', 'close'],
    ['the literal value of the property label', "const a = () => ({ label: 'close' });", 'close'],
    ['a sentence as the argument of a call', "toast.error('That did not work.');", 'That did not work.'],
    ['a literal in Turkish', "const a = () => f('çok');", 'çok'],
    ['a sentence in a template literal', 'const a = f(`It is ready now`);', 'It is ready now'],
    [
      'a text that is read when the module is loaded, before the language is known',
      "import { texts } from './texts.ts'; const a = f(texts.b);",
      'texts is read when the file is loaded',
    ],
  ])('must be in the catalogues: the check strayTexts reports %s', (_, source, stray) => {
    expect(strayTexts('a.tsx', source)).toEqual([`a.tsx: ${stray}`]);
  });

  it('do not include the messages of thrown errors and of the console: the check strayTexts does not report them', () => {
    const source = "throw new Error('The page has no root.'); console.warn('It did not answer.');";
    expect(strayTexts('a.tsx', source)).toEqual([]);
  });
});
