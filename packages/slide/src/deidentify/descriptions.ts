/**
 * Removes what identifies patients, people and devices from the descriptions of TIFF files, byte for byte: blanked characters
 * become spaces. Only what is known to be technical stays.
 */

/** Replaces every character but line breaks by a space. */
function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/g, ' ');
}

/** Parts of the first lines of an Aperio description: version, sizes, offsets, codec. */
const aperioWords =
  /Aperio (?:Image Library|Leica Biosystems GT450|Format Library)?|\bv?\d+(?:\.\d+)*\b|\d+x\d+|[[\](),;>\s-]|\b(?:JPEG|JPEG2000|J2K|J2C|KDU|YUV16|YCC|YCbCr|RGB|GRAY|BMP|LZW|RAW|UNCOMPRESSED|OFFSET|CODESTREAM)\b|\/|\bQ=\d+/g;

/** Numbers that a viewer or an analysis needs. */
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

/** A name that the scanner's program gives a value; another one could itself be of a person. */
const plainName = /^\s*[A-Za-z][A-Za-z ]{0,22}\s*$/;

/** Source: descriptions of Aperio slides, `first lines|name = value|name = value`. */
export function blankAperioDescription(description: string): string {
  const [head = '', ...pairs] = description.split('|');
  const keptHead = head
    .split(/(\r\n|\r|\n|;)/)
    .map((line) => (line.replaceAll(aperioWords, '').trim() === '' ? line : blank(line)))
    .join('');
  const keptPairs = pairs.map((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0));
    const value = pair.slice(at + 1);
    if (aperioNumbers.has(name.trim()) && /^[\s\d.,+\-x]*$/i.test(value)) return pair;
    if (at < 0) return pair === '' ? '' : `=${blank(pair.slice(1))}`; // OpenSlide expects an equals sign
    return `${plainName.test(name) ? name : blank(name)}=${blank(value)}`;
  });
  return [keptHead, ...keptPairs].join('|');
}

/** Which values of an XML description stay: text of these elements, and values of these attributes. */
export interface XmlAllowlist {
  readonly elements: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

/**
 * Blanks all text and all attribute values of an XML document that the allowlist does not name.
 *
 * @returns null for a document with a document type, whose entities could hold anything
 */
export function blankXml(xml: string, allowed: XmlAllowlist): string | null {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) return null;
  const open: string[] = [];
  return xml.replaceAll(
    /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|<[^>]*>?|[^<]+/g,
    (token) => {
      if (token.startsWith('<!')) return blank(token);
      if (token.startsWith('<?')) return token.startsWith('<?xml ') ? token : blank(token);
      if (!token.startsWith('<')) {
        const name = open.at(-1);
        return name !== undefined && allowed.elements.has(name) ? token : blank(token);
      }
      if (token.startsWith('</')) {
        open.pop();
        return token;
      }
      const name = /^<\s*(?:[\w.-]+:)?([\w.-]+)/.exec(token)?.[1];
      if (name === undefined) return blank(token);
      if (!/\/\s*>$/.test(token)) open.push(name);
      return token.replaceAll(
        /([\w.:-]+)(\s*=\s*)("[^"]*"|'[^']*')/g,
        (whole, attribute: string, equals: string, value: string) =>
          allowed.attributes.has(attribute) || attribute.startsWith('xmlns') || attribute.startsWith('xsi:')
            ? whole
            : `${attribute}${equals}${value.charAt(0)}${blank(value.slice(1, -1))}${value.charAt(0)}`,
      );
    },
  );
}

/** Source: descriptions of PerkinElmer and Akoya QPTIFF. */
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

/** Source: the OME-XML schema 2016-06. */
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
