/**
 * Removes text from the XML metadata of TIFF files. Values that are known to be technical are kept. Every other character
 * becomes a space, so that the length does not change.
 *
 * The parser of xml/ states no positions of values, so this file has its own tokenizer. Its time is linear in the length of the document.
 *
 * Source: XML 1.0, fifth edition.
 */
import { blank } from './descriptions.ts';

/** The values of an XML document that are kept: the text of these elements and the values of these attributes. */
export interface XmlAllowlist {
  readonly elements: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

/**
 * Blanks all text and all attribute values of an XML document that the allowlist does not name.
 *
 * @returns null for a document that is not well-formed, because its values cannot be told from its names; and for a document
 *   with a document type, because the entities of that type could contain any text
 */
export function blankXml(xml: string, allowed: XmlAllowlist): string | null {
  const blanked: string[] = [];
  /** Names of the elements that are open at the current token, the innermost last. */
  const openElements: string[] = [];
  for (let at = 0; at < xml.length; ) {
    const token = tokenAt(xml, at);
    if (token === null) return null;
    at += token.length;
    if (!token.startsWith('<')) {
      blanked.push(allowed.elements.has(openElements.at(-1) ?? '') ? token : blank(token));
    } else if (token.startsWith('<!')) {
      blanked.push(blank(token));
    } else if (token.startsWith('<?')) {
      blanked.push(xmlDeclaration.test(token) ? token : blank(token));
    } else if (token.startsWith('</')) {
      if (!endTag.test(token)) return null;
      openElements.pop();
      blanked.push(token);
    } else {
      const tag = blankStartTag(token, allowed);
      if (tag === null) return null;
      if (!token.endsWith('/>')) openElements.push(tag.name);
      blanked.push(tag.blanked);
    }
  }
  return blanked.join('');
}

const xmlDeclaration =
  /^<\?xml(?:\s+(?:version|encoding|standalone)\s*=\s*(?:"[\w.-]{1,20}"|'[\w.-]{1,20}'))*\s*\?>$/;
const endTag = /^<\/[\w.:-]{1,200}\s*>$/;

/**
 * Returns the text, comment, CDATA section, processing instruction or tag that begins at a position; null if this token does not
 * end, and for a document type.
 */
function tokenAt(xml: string, at: number): string | null {
  const until = (terminator: string) => {
    const index = xml.indexOf(terminator, at);
    return index < 0 ? null : xml.slice(at, index + terminator.length);
  };
  if (xml[at] !== '<') {
    const end = xml.indexOf('<', at);
    return xml.slice(at, end < 0 ? xml.length : end);
  }
  if (xml.startsWith('<!--', at)) return until('-->');
  if (xml.startsWith('<![CDATA[', at)) return until(']]>');
  if (xml.startsWith('<!', at)) return null;
  if (xml.startsWith('<?', at)) return until('?>');
  /** The quote that the current attribute value began with; null outside of values. */
  let quote: string | null = null;
  for (let i = at + 1; i < xml.length; i++) {
    const character = xml[i];
    if (character === '<') return null; // XML forbids it in attribute values too
    if (quote !== null) quote = character === quote ? null : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return xml.slice(at, i + 1); // a value may contain this character
  }
  return null;
}

/** The name of an element without its namespace prefix, e.g. `Image` for `<ome:Image ID="1">`. */
const elementName = /<(?:[\w.-]{1,200}:)?([\w.-]{1,200})/y;
/** An attribute up to the quote before its value. */
const attributeStart = /\s+([\w.:-]{1,200})\s*=\s*(["'])/y;
const startTagEnd = /\s*\/?>/y;

/** Blanks the attribute values of a start tag, except technical ones and those that refer to a schema; null for a malformed tag. */
function blankStartTag(tag: string, { attributes }: XmlAllowlist): { name: string; blanked: string } | null {
  const [start, name] = matchAt(elementName, tag, 0) ?? [];
  if (start === undefined || name === undefined) return null;
  let blanked = start;
  for (let at = start.length; ; ) {
    const [end] = matchAt(startTagEnd, tag, at) ?? [];
    if (end !== undefined) return at + end.length === tag.length ? { name, blanked: blanked + end } : null;
    const [assignment, attribute = '', quote = ''] = matchAt(attributeStart, tag, at) ?? [];
    if (assignment === undefined) return null;
    const valueAt = at + assignment.length;
    const valueEnd = tag.indexOf(quote, valueAt);
    if (valueEnd < 0) return null;
    const value = tag.slice(valueAt, valueEnd);
    const refersToSchema = attribute.startsWith('xmlns') || attribute.startsWith('xsi:');
    const isTechnical = attributes.has(attribute) && (attribute !== 'ID' || technicalId.test(value));
    blanked += assignment + (refersToSchema || isTechnical ? value : blank(value)) + quote;
    at = valueEnd + quote.length;
  }
}

/**
 * Matches identifiers like `Image:0` and `Channel:0:1`, and `Annotation:Resolution:0` of Bio-Formats. Others, like
 * `Experimenter:jane.doe`, may name people.
 */
const technicalId = /^(?!Experimenter)[A-Za-z]{1,40}(?::Resolution)?(?::\d{1,9}){1,4}$/;

/** Matches a sticky expression at a position. */
function matchAt(expression: RegExp, text: string, position: number): RegExpExecArray | null {
  expression.lastIndex = position;
  return expression.exec(text);
}

/** The technical values in PerkinElmer and Akoya QPTIFF files. Source: descriptions in such files. */
export const qptiffAllowlist: XmlAllowlist = {
  elements: new Set([
    'ImageType',
    'DescriptionVersion',
    'AcquisitionSoftware',
    'Objective',
    'Magnification',
    'ObjectiveName',
    'ExposureTime',
    'SignalUnits',
    'Color',
    'CameraType',
    'PixelSizeMicrons',
    'BitDepth',
    'IsUnmixedComponent',
    'Band',
    'Filter',
    'FilterPair',
    'Wavelength',
    'CutOn',
    'CutOff',
    'Active',
    'Binning',
    'Gain',
    'OffsetCounts',
    'Orientation',
    'ROI',
    'X',
    'Y',
    'Width',
    'Height',
    'Responsivity',
  ]),
  attributes: new Set(['version', 'encoding']),
};

/** The technical values of OME-TIFF. Source: the OME-XML schema 2016-06. */
export const omeAllowlist: XmlAllowlist = {
  elements: new Set<string>(),
  attributes: new Set([
    'version',
    'encoding',
    'ID',
    'DimensionOrder',
    'Type',
    'SizeX',
    'SizeY',
    'SizeZ',
    'SizeC',
    'SizeT',
    'PhysicalSizeX',
    'PhysicalSizeY',
    'PhysicalSizeZ',
    'PhysicalSizeXUnit',
    'PhysicalSizeYUnit',
    'PhysicalSizeZUnit',
    'TimeIncrement',
    'TimeIncrementUnit',
    'BigEndian',
    'Interleaved',
    'SignificantBits',
    'SamplesPerPixel',
    'Color',
    'EmissionWavelength',
    'ExcitationWavelength',
    'IFD',
    'PlaneCount',
    'FirstZ',
    'FirstC',
    'FirstT',
    'TheZ',
    'TheC',
    'TheT',
    'NominalMagnification',
    'LensNA',
  ]),
};
