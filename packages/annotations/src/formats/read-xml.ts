import { SaxesParser } from 'saxes';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';

export interface XmlHandler {
  /** @param path names of the elements around it and its own */
  readonly open: (
    path: readonly string[],
    attributes: Readonly<Record<string, string>>,
    line: number,
  ) => void;
  readonly close: (path: readonly string[]) => void;
}

/** Characters that the parser gets at a time, so that a limit ends it early. */
const chunkLength = 64 * 1024;

/**
 * Parses XML as events. A document type definition is rejected before parsing: it could define entities.
 *
 * @throws ImportError and what the handler throws
 */
export function readXmlEvents(text: string, handler: XmlHandler): void {
  if (text.includes('<!DOCTYPE') || text.includes('<!ENTITY')) throw new ImportError('document_type');
  const parser = new SaxesParser();
  const path: string[] = [];
  let attributes = Object.create(null) as Record<string, string>;
  let attributeCount = 0;
  parser.on('error', (cause) => {
    throw new ImportError('not_xml', { line: parser.line, reason: cause.message.slice(0, 200) });
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
  parser.on('opentag', () => handler.open(path, attributes, parser.line));
  parser.on('closetag', () => {
    handler.close(path);
    path.pop();
  });
  const document = text.trimStart();
  for (let start = 0; start < document.length; start += chunkLength) {
    parser.write(document.slice(start, start + chunkLength));
  }
  parser.close();
}

/** Reads a decimal number, with a comma or a point; null for anything else. */
export function readDecimal(text: string | undefined): number | null {
  if (text === undefined || !/^\s*[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?\s*$|^\s*[+-]?\d+[.,]\s*$/.test(text))
    return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
