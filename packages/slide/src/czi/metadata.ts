/** Reads image metadata from the XML of a CZI file, by an allow-list: names, dates and serial numbers are never read. */
import type { Colour } from '../decode/raster.ts';
import { elementsAt, readXml, textAt, type XmlElement } from '../xml/read-xml.ts';

export interface CziMetadata {
  /** Micrometres per pixel. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  readonly objectivePower: number | null;
  /** By channel number, as in the subblock directory of the file. */
  readonly channels: ReadonlyMap<number, ChannelMetadata>;
}

/** Display settings of a channel; null where the file states none. */
export interface ChannelMetadata {
  readonly colour: Colour | null;
  /** Sample values that are shown as black and at full brightness, as fractions of the sample range. */
  readonly low: number | null;
  readonly high: number | null;
  /** Number of bits per sample that the camera uses. */
  readonly bits: number | null;
  readonly isVisible: boolean;
  /** Transmitted light: the background is bright. */
  readonly isTransmitted: boolean;
}

/** Only elements on these paths are kept in memory; every file has tens of thousands of others. */
const READ_PATHS = [
  'ImageDocument/Metadata/Scaling/Items/Distance',
  'ImageDocument/Metadata/Scaling/AutoScaling/ObjectiveName',
  'ImageDocument/Metadata/DisplaySetting/Channels/Channel',
  'ImageDocument/Metadata/Information/Image/ComponentBitCount',
  'ImageDocument/Metadata/Information/Image/ObjectiveSettings/ObjectiveRef',
  'ImageDocument/Metadata/Information/Image/Dimensions/Channels/Channel',
  'ImageDocument/Metadata/Information/Instrument/Objectives/Objective/NominalMagnification',
].map((path) => path.split('/'));

const MICROMETRES_IN_METRE = 1e6;
const PLAUSIBLE_MPP = 1000;
const PLAUSIBLE_POWER = 1000;

/** @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
export function readCziMetadata(xml: string): CziMetadata {
  if (xml === '') return { mpp: null, objectivePower: null, channels: new Map() };
  const root = readXml(xml, isRead);
  return {
    mpp: readMpp(root),
    objectivePower: readObjectivePower(root),
    channels: readChannels(root),
  };
}

function isRead(path: readonly string[]): boolean {
  return READ_PATHS.some((readPath) => {
    const length = Math.min(path.length, readPath.length);
    for (let i = 0; i < length; i++) if (path[i] !== readPath[i]) return false;
    // Direct children of a channel are enough; below them are lasers, filters and detectors.
    return path.length <= readPath.length + 1;
  });
}

/** Reads the pixel size, which is in metres whatever the display unit. */
function readMpp(root: XmlElement): CziMetadata['mpp'] {
  const distances = elementsAt(root, 'Metadata/Scaling/Items/Distance');
  const along = (axis: string) => {
    const distance = distances.find(({ attributes }) => attributes.get('Id') === axis);
    const metres = distance && textAt(distance, 'Value');
    // 4E-07 m gives 0.4 µm, not 0.39999999999999997.
    return between(Number((numberOf(metres) * MICROMETRES_IN_METRE).toPrecision(12)), PLAUSIBLE_MPP);
  };
  const [x, y] = [along('X'), along('Y')];
  return x === null || y === null ? null : { x, y };
}

/** Reads the magnification of the referenced objective, else of the only one, else from its name, "10x/0.45". */
function readObjectivePower(root: XmlElement): number | null {
  const [reference] = elementsAt(root, 'Metadata/Information/Image/ObjectiveSettings/ObjectiveRef');
  const objectives = elementsAt(root, 'Metadata/Information/Instrument/Objectives/Objective');
  const id = reference?.attributes.get('Id');
  const used =
    id === undefined && objectives.length === 1
      ? objectives[0]
      : objectives.find(({ attributes }) => attributes.get('Id') === id);
  const nominal = used && textAt(used, 'NominalMagnification');
  const [, named] =
    /(?:^|\s)(\d+(?:[.,]\d+)?)x\//.exec(textAt(root, 'Metadata/Scaling/AutoScaling/ObjectiveName') ?? '') ??
    [];
  return between(numberOf(nominal), PLAUSIBLE_POWER) ?? between(numberOf(named), PLAUSIBLE_POWER);
}

function readChannels(root: XmlElement): ReadonlyMap<number, ChannelMetadata> {
  const described = byNumber(elementsAt(root, 'Metadata/Information/Image/Dimensions/Channels/Channel'));
  const displayed = byNumber(elementsAt(root, 'Metadata/DisplaySetting/Channels/Channel'));
  const bitsOfAll = textAt(root, 'Metadata/Information/Image/ComponentBitCount');
  const channels = new Map<number, ChannelMetadata>();
  // A file without channel elements has one channel, number 0.
  for (const number of new Set([0, ...described.keys(), ...displayed.keys()])) {
    const [description, display] = [described.get(number), displayed.get(number)];
    const text = (element: XmlElement | undefined, name: string) =>
      element === undefined ? null : textAt(element, name);
    const light = `${text(description, 'IlluminationType')} ${text(description, 'ContrastMethod')}`;
    channels.set(number, {
      colour: readColour(text(display, 'Color') ?? text(description, 'Color')),
      low: fraction(text(display, 'Low')),
      high: fraction(text(display, 'High')),
      bits: between(numberOf(text(description, 'ComponentBitCount') ?? bitsOfAll), 33),
      isVisible: text(display, 'IsSelected')?.toLowerCase() !== 'false',
      isTransmitted: /Transmitted|Brightfield/i.test(light),
    });
  }
  return channels;
}

/** Returns channels by number: from `Id`, "Channel:3", else the position in the list. */
function byNumber(elements: readonly XmlElement[]): ReadonlyMap<number, XmlElement> {
  const channels = new Map<number, XmlElement>();
  for (const [i, element] of elements.entries()) {
    const [, number] = /^Channel:(\d{1,6})$/.exec(element.attributes.get('Id') ?? '') ?? [];
    const key = number === undefined ? i : Number(number);
    if (!channels.has(key)) channels.set(key, element);
  }
  return channels;
}

/** Reads `#AARRGGBB` or `#RRGGBB`. */
function readColour(text: string | null): Colour | null {
  const [, hexadecimal] = /^#(?:[\da-f]{2})?([\da-f]{6})$/i.exec(text ?? '') ?? [];
  if (hexadecimal === undefined) return null;
  const number = Number.parseInt(hexadecimal, 16);
  return { r: number >> 16, g: (number >> 8) & 255, b: number & 255 };
}

function fraction(text: string | null): number | null {
  const value = numberOf(text);
  return value >= 0 && value <= 1 ? value : null;
}

function numberOf(text: string | null | undefined): number {
  return Number(text?.replace(',', '.') || Number.NaN);
}

function between(value: number, limit: number): number | null {
  return value > 0 && value < limit ? value : null;
}
