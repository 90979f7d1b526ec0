/** Parses XML element by element, with limits, for the readers of ASAP and Aperio files. */
import { SaxesParser } from 'saxes';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';

/**
 * Called at the start of each element.
 *
 * @param path the names of its ancestors from the root, then its own; the parser changes this array afterwards
 * @param line the line of the text, from 1, at which the start tag ends
 */
type XmlElementHandler = (
  path: readonly string[],
  attributes: Readonly<Record<string, string>>,
  line: number,
) => void;

/** Characters per call of the parser. */
const chunkLength = 64 * 1024;

/**
 * Parses XML and calls the handler for each element. Rejects text that may contain a document type definition before
 * parsing, because a definition could contain entities that expand to gigabytes.
 *
 * @throws ImportError, and the errors that the handler throws
 */
export function readXmlElements(text: string, onElement: XmlElementHandler): void {
  if (text.includes('<!DOCTYPE') || text.includes('<!ENTITY')) throw new ImportError('document_type');
  const document = text.trimStart(); // an XML declaration may only be at the very start
  const skippedLines = text.slice(0, text.length - document.length).match(/\r\n?|\n/g)?.length ?? 0;
  const parser = new SaxesParser();
  const lineInText = () => skippedLines + parser.line;
  const path: string[] = [];
  // Without a prototype, so that an attribute may have the name `__proto__`.
  let attributes = Object.create(null) as Record<string, string>;
  let attributeCount = 0;
  parser.on('error', (cause) => {
    throw new ImportError('not_xml', { line: lineInText(), reason: cause.message.slice(0, 200) });
  });
  parser.on('opentagstart', ({ name }) => {
    path.push(name);
    if (path.length > importLimits.xmlDepth)
      throw new ImportError('nested_too_deeply', { limit: importLimits.xmlDepth });
    attributes = Object.create(null) as Record<string, string>;
    attributeCount = 0;
  });
  parser.on('attribute', ({ name, value }) => {
    attributeCount++;
    if (attributeCount > importLimits.xmlAttributes)
      throw new ImportError('too_many_values', { limit: importLimits.xmlAttributes });
    attributes[name] = value;
  });
  parser.on('opentag', () => onElement(path, attributes, lineInText()));
  parser.on('closetag', () => {
    path.pop();
  });
  for (let start = 0; start < document.length; start += chunkLength) {
    parser.write(document.slice(start, start + chunkLength));
  }
  parser.close();
}

/** Reads a number with a decimal point or comma, e.g. `1.5`, `,5`, `7.` or `-1e3`; null for other text or infinity. */
export function readDecimal(text: string | undefined): number | null {
  // Linear in the length of the text: no two repetitions can match the same digits.
  if (text === undefined || !/^\s*[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\s*$/.test(text))
    return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
