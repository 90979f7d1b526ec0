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
  /** By their names without prefixes; the first of two that are then the same counts. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Character data of the element itself, not of those in it, without white space around. */
  readonly text: string;
}

/** What a document may ask for; those of real slides stay far below. */
export const xmlLimits = {
  characters: 16 * 2 ** 20,
  /** Elements in elements in … ZEN nests the settings of its hardware 65 deep. */
  depth: 256,
  /** Elements that are kept. */
  elements: 100_000,
  /** Of one element. */
  attributes: 256,
} as const;

/**
 * Source: XML 1.0, fifth edition; Namespaces in XML 1.0.
 *
 * @param keep asked for every element but the root, by the names from the root to it: what it does not want is left
 *   out with all that is in it, and does not count against the limit of elements
 * @returns the root element
 * @throws SlideError FILE_CORRUPT when it is not well-formed or has a document type definition, LIMIT_EXCEEDED
 */
export function readXml(text: string, keep: (path: readonly string[]) => boolean = () => true): XmlElement {
  if (text.length > xmlLimits.characters) throw tooMuch(`${text.length} characters`);
  // Before parsing: a definition of 16 MiB would be read to its end first. No scanner writes the word anywhere else.
  if (text.includes('<!DOCTYPE')) {
    throw new SlideError('FILE_CORRUPT', 'The XML has a document type definition');
  }
  const tree = growTree(keep);
  const parser = new SaxesParser();
  parser.on('opentagstart', tree.open);
  parser.on('attribute', tree.addAttribute);
  parser.on('closetag', tree.close);
  parser.on('text', tree.addText);
  parser.on('cdata', tree.addText);
  try {
    parser.write(text.trimStart()).close();
  } catch (cause) {
    if (cause instanceof SlideError) throw cause;
    throw new SlideError('FILE_CORRUPT', 'The XML is not well-formed', { cause });
  }
  return tree.root();
}

/** All elements that such a path leads to from an element, e.g. `Image/Pixels/Channel`, in the order of the document. */
export function elementsAt(from: XmlElement, path: string): readonly XmlElement[] {
  let found: readonly XmlElement[] = [from];
  for (const name of path.split('/')) {
    found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  }
  return found;
}

/** The text of the first element there; null when there is none. */
export function textAt(from: XmlElement, path: string): string | null {
  return elementsAt(from, path)[0]?.text ?? null;
}

interface GrowingElement {
  readonly name: string;
  attributes: Map<string, string>;
  readonly children: GrowingElement[];
  text: string;
}

/** Most elements have none. */
const NO_ATTRIBUTES = new Map<string, string>();

function growTree(keep: (path: readonly string[]) => boolean) {
  const opened: GrowingElement[] = [];
  const path: string[] = [];
  /** How many elements are open in one that is left out, itself included. */
  let leftOut = 0;
  let elements = 0;
  let attributes = 0;
  let root: GrowingElement | null = null;
  const isDropped = () => leftOut > 0;

  return {
    root(): XmlElement {
      // The parser has made sure that there is one.
      if (!root) throw new SlideError('FILE_CORRUPT', 'The XML has no element');
      return root;
    },
    open({ name }: { readonly name: string }): void {
      if (opened.length + leftOut === xmlLimits.depth)
        throw tooMuch(`elements more than ${xmlLimits.depth} deep`);
      attributes = 0;
      if (isDropped()) {
        leftOut++;
        return;
      }
      path.push(withoutPrefix(name));
      if (root && !keep(path)) {
        leftOut++;
        return;
      }
      elements++;
      if (elements > xmlLimits.elements) throw tooMuch(`more than ${xmlLimits.elements} elements`);
      const element = { name: withoutPrefix(name), attributes: NO_ATTRIBUTES, children: [], text: '' };
      opened.at(-1)?.children.push(element);
      opened.push(element);
      root ??= element;
    },
    close(): void {
      if (leftOut > 1) {
        leftOut--;
        return;
      }
      path.pop();
      if (isDropped()) {
        leftOut = 0;
        return;
      }
      const element = opened.pop();
      if (element) element.text = element.text.trim();
    },
    addAttribute({ name, value }: { readonly name: string; readonly value: string }): void {
      attributes++;
      if (attributes > xmlLimits.attributes) {
        throw tooMuch(`an element of more than ${xmlLimits.attributes} attributes`);
      }
      const element = isDropped() ? null : opened.at(-1);
      if (!element) return;
      const local = withoutPrefix(name);
      if (element.attributes === NO_ATTRIBUTES) element.attributes = new Map();
      if (!element.attributes.has(local)) element.attributes.set(local, value);
    },
    addText(text: string): void {
      const element = isDropped() ? null : opened.at(-1);
      if (element) element.text += text;
    },
  };
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function tooMuch(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The XML has ${what}`);
}
