/**
 * Parser of the XML that scanners write into slides; it returns a tree of limited size.
 *
 * The parser accesses no files or network and expands only the five entities of XML itself; a document type
 * definition, which could define others, is rejected.
 */
import { SaxesParser } from 'saxes';
import { SlideError } from '../model/slide.ts';

export interface XmlElement {
  /** Name without the namespace prefix. */
  readonly name: string;
  /** By name without prefix; of two attributes with the same name, the first is used. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Character data of the element itself, without its children, trimmed. */
  readonly text: string;
}

/** Limits of a document. Documents of real slides stay below them; one that exceeds a limit is rejected with LIMIT_EXCEEDED. */
export const xmlLimits = {
  characters: 16 * 2 ** 20,
  /** Nesting depth. ZEN, the software of Zeiss scanners, nests its hardware settings 65 deep. */
  depth: 256,
  /** Elements kept in memory. */
  elements: 100_000,
  /** Attributes of one element. */
  attributes: 256,
} as const;

/**
 * Parses a document.
 *
 * Source: XML 1.0, fifth edition; Namespaces in XML 1.0.
 *
 * @param keep called for every element except the root, with the names of the elements from the root to this element.
 *   An element for which `keep` returns false is skipped with its contents and does not count against the limit
 * @returns the root element
 * @throws SlideError FILE_CORRUPT when the document is not well-formed or has a document type definition; LIMIT_EXCEEDED
 *   when it exceeds one of `xmlLimits`
 */
export function readXml(text: string, keep: (path: readonly string[]) => boolean = () => true): XmlElement {
  if (text.length > xmlLimits.characters) throw limitExceededError(`${text.length} characters`);
  // The check precedes parsing, which would process a definition of up to 16 MiB. Scanners never write `<!DOCTYPE`.
  if (text.includes('<!DOCTYPE')) {
    throw new SlideError('FILE_CORRUPT', 'The XML has a document type definition');
  }
  const tree = createTreeBuilder(keep);
  const parser = new SaxesParser();
  parser.on('opentagstart', tree.open);
  parser.on('attribute', tree.addAttribute);
  parser.on('closetag', tree.close);
  parser.on('text', tree.addText);
  parser.on('cdata', tree.addText);
  try {
    parser.write(text.trimStart()).close(); // the parser rejects white space before an XML declaration
  } catch (cause) {
    if (cause instanceof SlideError) throw cause;
    throw new SlideError('FILE_CORRUPT', 'The XML is not well-formed', { cause });
  }
  return tree.root();
}

/** Returns all elements at a path below an element, e.g. `Image/Pixels/Channel`, in document order. */
export function elementsAt(ancestor: XmlElement, path: string): readonly XmlElement[] {
  let elements: readonly XmlElement[] = [ancestor];
  for (const name of path.split('/')) {
    elements = elements.flatMap(({ children }) => children.filter((child) => child.name === name));
  }
  return elements;
}

/** Returns the text of the first element at a path; null when there is none. */
export function textAt(ancestor: XmlElement, path: string): string | null {
  return elementsAt(ancestor, path)[0]?.text ?? null;
}

interface MutableElement {
  readonly name: string;
  attributes: Map<string, string>;
  readonly children: MutableElement[];
  text: string;
}

/** Shared by all elements without attributes, which are most of them. Never modified. */
const NO_ATTRIBUTES = new Map<string, string>();

/** Returns the handlers of parser events that build the tree. They share the position in the document. */
function createTreeBuilder(keep: (path: readonly string[]) => boolean) {
  /** Kept elements whose end tag has not come yet, from the root down. */
  const openElements: MutableElement[] = [];
  /** Names of the same elements, and of the outermost skipped element while it is open. */
  const path: string[] = [];
  /** Number of open elements from the outermost skipped one down; 0 outside of skipped elements. */
  let skippedDepth = 0;
  let elementCount = 0;
  /** Number of attributes of the current element. */
  let attributeCount = 0;
  let root: MutableElement | null = null;
  const isSkipping = () => skippedDepth > 0;

  return {
    root(): XmlElement {
      // Unreachable: the parser has checked that there is a root element.
      if (!root) throw new SlideError('FILE_CORRUPT', 'The XML has no element');
      return root;
    },
    open({ name }: { readonly name: string }): void {
      if (openElements.length + skippedDepth === xmlLimits.depth)
        throw limitExceededError(`elements more than ${xmlLimits.depth} deep`);
      attributeCount = 0;
      if (isSkipping()) {
        skippedDepth++;
        return;
      }
      path.push(withoutPrefix(name));
      if (root && !keep(path)) {
        skippedDepth++;
        return;
      }
      elementCount++;
      if (elementCount > xmlLimits.elements)
        throw limitExceededError(`more than ${xmlLimits.elements} elements`);
      const element = { name: withoutPrefix(name), attributes: NO_ATTRIBUTES, children: [], text: '' };
      openElements.at(-1)?.children.push(element);
      openElements.push(element);
      root ??= element;
    },
    close(): void {
      if (skippedDepth > 1) {
        skippedDepth--;
        return;
      }
      path.pop();
      if (isSkipping()) {
        skippedDepth = 0;
        return;
      }
      const element = openElements.pop();
      if (element) element.text = element.text.trim();
    },
    addAttribute({ name, value }: { readonly name: string; readonly value: string }): void {
      attributeCount++;
      if (attributeCount > xmlLimits.attributes) {
        throw limitExceededError(`an element of more than ${xmlLimits.attributes} attributes`);
      }
      const element = isSkipping() ? null : openElements.at(-1);
      if (!element) return;
      const localName = withoutPrefix(name);
      if (element.attributes === NO_ATTRIBUTES) element.attributes = new Map();
      if (!element.attributes.has(localName)) element.attributes.set(localName, value);
    },
    addText(text: string): void {
      const element = isSkipping() ? null : openElements.at(-1);
      if (element) element.text += text;
    },
  };
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function limitExceededError(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The XML has ${what}`);
}
