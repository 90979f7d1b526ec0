/**
 * XML as scanners write it into slides, into a tree that is small whatever the document claims.
 *
 * The parser knows no files, no network and no entities but the five of XML itself; a document type definition, the
 * only place where others could come from, is refused.
 */
import { SaxesParser } from 'saxes';
import { SlideError } from '../slide.ts';

export interface XmlElement {
  /** Without the prefix of its namespace. */
  readonly name: string;
  /** By their names as they are written, prefix included; without a prototype. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Character data of the element itself, not of those in it. */
  readonly text: string;
}

/** What a document may ask for; those of real slides stay far below. */
const limits = {
  characters: 16 * 2 ** 20,
  /** Elements in elements in … */
  depth: 64,
  elements: 200_000,
  /** Of all elements together. */
  attributes: 1_000_000,
} as const;

/**
 * Source: XML 1.0, fifth edition.
 *
 * @param text white space before it is left out: some writers begin with a new line, which XML does not allow
 * @returns the root element
 * @throws SlideError FILE_CORRUPT when it is not well-formed or has a document type definition, LIMIT_EXCEEDED
 */
export function readXml(text: string): XmlElement {
  if (text.length > limits.characters) throw tooMuch(`${text.length} characters`);
  const tree = growTree();
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => tree.open(name, attributes));
  parser.on('closetag', tree.close);
  parser.on('text', tree.write);
  parser.on('cdata', tree.write);
  parser.on('attribute', tree.countAttribute);
  parser.on('doctype', () => {
    throw new SlideError('FILE_CORRUPT', 'The XML has a document type definition');
  });
  try {
    parser.write(text.trimStart()).close();
  } catch (cause) {
    if (cause instanceof SlideError) throw cause;
    throw new SlideError('FILE_CORRUPT', 'The XML is not well-formed', { cause });
  }
  const root = tree.root();
  // The parser has made sure that there is one.
  if (!root) throw new SlideError('FILE_CORRUPT', 'The XML has no element');
  return root;
}

/** The first child of this name; null without one. */
export function childNamed(element: XmlElement | null, name: string): XmlElement | null {
  return element?.children.find((child) => child.name === name) ?? null;
}

export function childrenNamed(element: XmlElement | null, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

interface GrowingElement extends XmlElement {
  readonly children: XmlElement[];
  text: string;
}

function growTree() {
  const opened: GrowingElement[] = [];
  let root: XmlElement | null = null;
  let elements = 0;
  let attributeCount = 0;
  return {
    root: () => root,
    open(name: string, attributes: Readonly<Record<string, string>>): void {
      elements++;
      if (elements > limits.elements) throw tooMuch(`more than ${limits.elements} elements`);
      if (opened.length === limits.depth) throw tooMuch(`elements more than ${limits.depth} deep`);
      const element = { name: name.slice(name.indexOf(':') + 1), attributes, children: [], text: '' };
      opened.at(-1)?.children.push(element);
      opened.push(element);
      root ??= element;
    },
    close(): void {
      opened.pop();
    },
    write(text: string): void {
      const element = opened.at(-1);
      if (element) element.text += text;
    },
    countAttribute(): void {
      attributeCount++;
      if (attributeCount > limits.attributes) throw tooMuch(`more than ${limits.attributes} attributes`);
    },
  };
}

function tooMuch(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The XML has ${what}`);
}
