/**
 * Removal of text that may identify patients, people and devices from the descriptions of TIFF files. Only values that are
 * known to be technical stay; every other character becomes a space, so that the length does not change.
 */

/** Replaces every character except line breaks by a space. */
function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/g, ' ');
}

/** Matches technical parts of the first lines of an Aperio description, e.g. of `46000x32914 [42673,5576] JPEG/RGB Q=30`. */
const aperioWords =
  /Aperio (?:Image Library|Leica Biosystems GT450|Format Library)?|\bv?\d+(?:\.\d+)*\b|\d+x\d+|[[\](),;>\s-]|\b(?:JPEG|JPEG2000|J2K|J2C|KDU|YUV16|YCC|YCbCr|RGB|GRAY|BMP|LZW|RAW|UNCOMPRESSED|OFFSET|CODESTREAM)\b|\/|\bQ=\d+/g;

/** Names of the Aperio values that stay: numbers that a viewer or an analysis needs. */
const aperioNumbers = new Set([
  'AppMag',
  'MPP',
  'Left',
  'Top',
  'StripeWidth',
  'LineCameraSkew',
  'LineAreaXOffset',
  'LineAreaYOffset',
  'Focus Offset',
  'Exposure Time',
  'Exposure Scale',
  'DisplayColor',
  'OriginalWidth',
  'OriginalHeight',
  'Gamma',
]);

/** Matches the names that the program of the scanner gives to values. Any other name could itself identify a person. */
const plainName = /^\s*[A-Za-z][A-Za-z ]{0,22}\s*$/;

/**
 * Blanks an Aperio description, which has the form `first lines|name = value|name = value`. Technical parts and the
 * names of blanked values stay. Source: descriptions in Aperio slides.
 */
export function blankAperioDescription(description: string): string {
  const [head = '', ...pairs] = description.split('|');
  const keptHead = head
    .split(/(\r\n|\r|\n|;)/)
    .map((line) => (line.replaceAll(aperioWords, '').trim() === '' ? line : blank(line)))
    .join('');
  const keptPairs = pairs.map((pair) => {
    const equalsAt = pair.indexOf('=');
    const name = pair.slice(0, Math.max(equalsAt, 0));
    const value = pair.slice(equalsAt + 1);
    // A known technical value stays only if it consists of digits and the signs of numbers and sizes.
    if (aperioNumbers.has(name.trim()) && /^[\s\d.,+\-x]*$/i.test(value)) return pair;
    if (equalsAt < 0) return pair === '' ? '' : `=${blank(pair.slice(1))}`; // OpenSlide expects an equals sign
    return `${plainName.test(name) ? name : blank(name)}=${blank(value)}`;
  });
  return [keptHead, ...keptPairs].join('|');
}

/** The values of an XML description that stay: the text of these elements and the values of these attributes. */
export interface XmlAllowlist {
  readonly elements: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

/**
 * Blanks all text and all attribute values of an XML document that the allowlist does not name.
 *
 * @returns null for a document with a document type, because its entities could contain any text
 */
export function blankXml(xml: string, allowed: XmlAllowlist): string | null {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) return null;
  /** Names of the elements that are open at the current token, the innermost last. */
  const openElements: string[] = [];
  return xml.replaceAll(xmlToken, (token) => {
    if (token.startsWith('<!')) return blank(token);
    if (token.startsWith('<?')) return token.startsWith('<?xml ') ? token : blank(token);
    if (!token.startsWith('<')) {
      const name = openElements.at(-1);
      return name !== undefined && allowed.elements.has(name) ? token : blank(token);
    }
    if (token.startsWith('</')) {
      openElements.pop();
      return token;
    }
    // The name of the element without its namespace prefix, e.g. `Image` for `<ome:Image ID="1">`.
    const name = /^<\s*(?:[\w.-]+:)?([\w.-]+)/.exec(token)?.[1];
    if (name === undefined) return blank(token);
    if (!/\/\s*>$/.test(token)) openElements.push(name);
    return blankAttributes(token, allowed);
  });
}

/** Matches a comment, a CDATA section, a processing instruction, a tag, or text. */
const xmlToken = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|<[^>]*>?|[^<]+/g;

/** Blanks the attribute values of a start tag, except allowed ones and those that refer to a schema. */
function blankAttributes(startTag: string, allowed: XmlAllowlist): string {
  return startTag.replaceAll(
    /([\w.:-]+)(\s*=\s*)("[^"]*"|'[^']*')/g,
    (assignment, attribute: string, equals: string, value: string) => {
      const refersToSchema = attribute.startsWith('xmlns') || attribute.startsWith('xsi:');
      if (refersToSchema || allowed.attributes.has(attribute)) return assignment;
      const quote = value.charAt(0);
      return `${attribute}${equals}${quote}${blank(value.slice(1, -1))}${quote}`;
    },
  );
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
