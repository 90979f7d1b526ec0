/**
 * Pixel size, objective power and channel settings from the XML of a CZI file. All other elements are skipped;
 * names, dates and serial numbers are never read.
 */
import type { Colour } from '../decode/raster.ts';
import { elementsAt, readXml, textAt, type XmlElement } from '../xml/read-xml.ts';

export interface CziMetadata {
  /** Micrometres per pixel; null when unknown. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  /** Magnification of the objective; null when unknown. */
  readonly objectivePower: number | null;
  /** By channel number, as in the subblock directory of the file. */
  readonly channels: ReadonlyMap<number, ChannelMetadata>;
}

/** Display settings of a channel; null where the file states none. A channel is visible unless the file hides it. */
export interface ChannelMetadata {
  readonly colour: Colour | null;
  /** Sample values displayed as black and at full brightness, as fractions (0 to 1) of the sample range. */
  readonly low: number | null;
  readonly high: number | null;
  /** Number of bits per sample that the camera uses. */
  readonly bits: number | null;
  readonly isVisible: boolean;
  /** Whether the channel shows transmitted light, so that its background is bright. */
  readonly isTransmitted: boolean;
}

/** Paths, from the root element, of the elements that the reader keeps in memory. Every file has tens of thousands of others. */
const NEEDED_PATHS = [
  'ImageDocument/Metadata/Scaling/Items/Distance',
  'ImageDocument/Metadata/Scaling/AutoScaling/ObjectiveName',
  'ImageDocument/Metadata/DisplaySetting/Channels/Channel',
  'ImageDocument/Metadata/Information/Image/ComponentBitCount',
  'ImageDocument/Metadata/Information/Image/ObjectiveSettings/ObjectiveRef',
  'ImageDocument/Metadata/Information/Image/Dimensions/Channels/Channel',
  'ImageDocument/Metadata/Information/Instrument/Objectives/Objective/NominalMagnification',
].map((path) => path.split('/'));

const MICROMETRES_IN_METRE = 1e6;
/** Values from these upwards are implausible and ignored. */
const IMPLAUSIBLE = { mpp: 1000, power: 1000, bits: 33 };

/** Reads the metadata; without XML (an empty string), all values are unknown. @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
export function readCziMetadata(xml: string): CziMetadata {
  if (xml === '') return { mpp: null, objectivePower: null, channels: new Map() };
  const root = readXml(xml, isKept); // the functions below omit the root element `ImageDocument` from their paths
  return {
    mpp: readMpp(root),
    objectivePower: readObjectivePower(root),
    channels: readChannels(root),
  };
}

/** Returns whether an element is on one of `NEEDED_PATHS`, or a direct child of the element at the end of one. */
function isKept(path: readonly string[]): boolean {
  return NEEDED_PATHS.some((neededPath) => {
    const length = Math.min(path.length, neededPath.length);
    for (let i = 0; i < length; i++) if (path[i] !== neededPath[i]) return false;
    // The direct children of a channel are its settings; their own children describe lasers, filters and detectors.
    return path.length <= neededPath.length + 1;
  });
}

/** Reads the pixel size. The XML states it in metres; the unit beside the number is only for display. */
function readMpp(root: XmlElement): CziMetadata['mpp'] {
  const distances = elementsAt(root, 'Metadata/Scaling/Items/Distance');
  const micrometresAlong = (axis: string) => {
    const distance = distances.find(({ attributes }) => attributes.get('Id') === axis);
    const metres = parseNumber(distance && textAt(distance, 'Value'));
    // Rounding makes 4E-07 m 0.4 µm instead of 0.39999999999999997.
    const micrometres = Number((metres * MICROMETRES_IN_METRE).toPrecision(12));
    return positiveBelow(micrometres, IMPLAUSIBLE.mpp);
  };
  const x = micrometresAlong('X');
  const y = micrometresAlong('Y');
  return x === null || y === null ? null : { x, y };
}

/**
 * Reads the magnification of the objective that the image refers to or, without a reference, of the only objective. If that
 * gives no magnification, reads it from ObjectiveName, e.g. "10x/0.45". Of several objectives without a reference, none is
 * chosen: each has an id, so `find` returns undefined.
 */
function readObjectivePower(root: XmlElement): number | null {
  const [reference] = elementsAt(root, 'Metadata/Information/Image/ObjectiveSettings/ObjectiveRef');
  const objectives = elementsAt(root, 'Metadata/Information/Instrument/Objectives/Objective');
  const id = reference?.attributes.get('Id');
  const objective =
    id === undefined && objectives.length === 1
      ? objectives[0]
      : objectives.find(({ attributes }) => attributes.get('Id') === id);
  const nominal = objective && textAt(objective, 'NominalMagnification');
  const objectiveName = textAt(root, 'Metadata/Scaling/AutoScaling/ObjectiveName') ?? '';
  const [, magnificationInName] = /(?:^|\s)(\d+(?:[.,]\d+)?)x\//.exec(objectiveName) ?? [];
  return (
    positiveBelow(parseNumber(nominal), IMPLAUSIBLE.power) ??
    positiveBelow(parseNumber(magnificationInName), IMPLAUSIBLE.power)
  );
}

function readChannels(root: XmlElement): ReadonlyMap<number, ChannelMetadata> {
  const descriptions = byChannelNumber(
    elementsAt(root, 'Metadata/Information/Image/Dimensions/Channels/Channel'),
  );
  const displays = byChannelNumber(elementsAt(root, 'Metadata/DisplaySetting/Channels/Channel'));
  const defaultBits = textAt(root, 'Metadata/Information/Image/ComponentBitCount');
  const channels = new Map<number, ChannelMetadata>();
  // Number 0 is always added, because a file without channel elements has one channel, number 0.
  for (const number of new Set([0, ...descriptions.keys(), ...displays.keys()])) {
    const description = descriptions.get(number);
    const display = displays.get(number);
    const text = (element: XmlElement | undefined, name: string) =>
      element === undefined ? null : textAt(element, name);
    const illumination = `${text(description, 'IlluminationType')} ${text(description, 'ContrastMethod')}`;
    channels.set(number, {
      colour: readColour(text(display, 'Color') ?? text(description, 'Color')),
      low: parseFraction(text(display, 'Low')),
      high: parseFraction(text(display, 'High')),
      bits: positiveBelow(
        parseNumber(text(description, 'ComponentBitCount') ?? defaultBits),
        IMPLAUSIBLE.bits,
      ),
      isVisible: text(display, 'IsSelected')?.toLowerCase() !== 'false',
      isTransmitted: /Transmitted|Brightfield/i.test(illumination),
    });
  }
  return channels;
}

/** Returns channel elements by channel number: the number in `Id` ("Channel:3"), or the list index if there is none. */
function byChannelNumber(elements: readonly XmlElement[]): ReadonlyMap<number, XmlElement> {
  const channels = new Map<number, XmlElement>();
  for (const [i, element] of elements.entries()) {
    const [, number] = /^Channel:(\d{1,6})$/.exec(element.attributes.get('Id') ?? '') ?? [];
    const key = number === undefined ? i : Number(number);
    if (!channels.has(key)) channels.set(key, element);
  }
  return channels;
}

/** Reads a colour as `#AARRGGBB` or `#RRGGBB`; returns null for anything else. */
function readColour(text: string | null): Colour | null {
  const [, hexadecimal] = /^#(?:[\da-f]{2})?([\da-f]{6})$/i.exec(text ?? '') ?? [];
  if (hexadecimal === undefined) return null;
  const number = Number.parseInt(hexadecimal, 16);
  return { r: number >> 16, g: (number >> 8) & 255, b: number & 255 };
}

/** Parses a number from 0 to 1; null for anything else. */
function parseFraction(text: string | null): number | null {
  const value = parseNumber(text);
  return value >= 0 && value <= 1 ? value : null;
}

/** Parses a number, also with a decimal comma; NaN for anything else. */
function parseNumber(text: string | null | undefined): number {
  return Number(text?.replace(',', '.') || Number.NaN);
}

/** Returns a value above 0 and below the limit; null for anything else. */
function positiveBelow(value: number, limit: number): number | null {
  return value > 0 && value < limit ? value : null;
}
