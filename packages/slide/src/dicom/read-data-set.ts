/**
 * Data sets out of bytes: a walk over data elements that reads the values it was asked for and steps over all
 * others. Every step counts against a limit, nothing is followed twice, and no length is believed before it is
 * compared with what surrounds it.
 *
 * Source: DICOM PS3.5, sections 7.1 (data elements), 7.5 (sequences) and A.4 (encapsulated pixel data).
 */
import type { ByteWindow } from './byte-window.ts';
import { corrupt, tooMuch, truncated } from './damage.ts';
import { type DataSet, dataSetOf, type Value } from './data-set.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag, tag, vrOfTag } from './tags.ts';

/** What to read of a data set: a value, the place of one, or of a sequence what to read of its items. */
export type Wanted = ReadonlyMap<number, 'value' | 'place' | WantedItems>;

export interface WantedItems {
  readonly items: Wanted;
  /** Called with each item instead of keeping it. */
  readonly each?: (item: DataSet) => void;
}

/** All of these, by value. */
export const valuesOf = (tags: readonly Tag[]): Wanted => new Map(tags.map((number) => [number, 'value']));

/** How many data elements may still be looked at. */
export interface Budget {
  elements: number;
}

export interface Walk {
  readonly window: ByteWindow;
  readonly isExplicit: boolean;
  readonly budget: Budget;
}

export interface DataSetExtent {
  readonly dataSet: DataSet;
  /** Place after the last element that was read. */
  readonly end: number;
}

const UNDEFINED_LENGTH = 0xffff_ffff;
/** These have two bytes of nothing and a length of four; all others a length of two. Source: PS3.5 7.1.2. */
const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);
const shortVrs = new Set('AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US'.split(' '));

interface Element {
  readonly tag: number;
  readonly vr: string;
  /** Place of the value. */
  readonly at: number;
  /** Bytes; null when undefined. */
  readonly length: number | null;
}

/**
 * Read the data set of a file.
 *
 * @param at where it begins
 * @param stopsAt the first tag that is not read any more; elements stand in the order of their tags
 * @returns pixel data, when the data set reaches them, as a place; nothing that follows them is read
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readDataSet(
  walk: Walk,
  at: number,
  wanted: Wanted,
  stopsAt: (tag: number) => boolean,
): Promise<DataSetExtent> {
  const values = new Map<number, Value>();
  const end = await readElements(walk, at, walk.window.size, wanted, values, 0, stopsAt);
  return { dataSet: dataSetOf(values), end };
}

/**
 * @param end where the elements end; null when a delimiter ends them
 * @returns place after the last element, and after the delimiter
 */
async function readElements(
  walk: Walk,
  start: number,
  end: number | null,
  wanted: Wanted,
  values: Map<number, Value>,
  depth: number,
  stopsAt: ((tag: number) => boolean) | null,
): Promise<number> {
  let at = start;
  while (end === null || at < end) {
    if (!walk.window.covers(at, ITEM_HEADER)) await loadAtMost(walk.window, at, end);
    const number = tagAt(walk.window, at);
    if (number === tag.ItemDelimitationItem && end === null) return at + ITEM_HEADER;
    if (number >>> 16 === 0xfffe) throw corrupt(`${nameOfTag(number)} stands among data elements`);
    // Before anything else of the element: what follows a group may be written in another way.
    if (stopsAt?.(number)) return at;
    const header = readHeader(walk, at) ?? (await loadHeader(walk, at));
    if (--walk.budget.elements < 0) throw tooMuch('its header has no end');

    const want = wanted.get(header.tag);
    if (want !== undefined && values.has(header.tag)) throw corrupt(`${nameOfTag(header.tag)} stands twice`);
    if (depth === 0 && header.tag === tag.PixelData) {
      values.set(header.tag, { kind: 'place', place: { at: header.at, length: header.length } });
      return header.at;
    }
    if (want === undefined && header.length !== null) {
      at = checkInside(walk, header.tag, header.at, header.length, end);
    } else {
      at = await readElement(walk, header, end, want, values, depth);
    }
  }
  if (at !== end) throw corrupt('a sequence does not fit into its item');
  return at;
}

/** @returns place after the element */
async function readElement(
  walk: Walk,
  element: Element,
  end: number | null,
  want: 'value' | 'place' | WantedItems | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  const { vr, at, length } = element;
  if (length === null) {
    if (vr === 'OB' || vr === 'OW') return skipFragments(walk, at);
    if (vr !== 'SQ' && vr !== 'UN') throw corrupt(`${nameOfTag(element.tag)} has no length`);
  } else {
    checkInside(walk, element.tag, at, length, end);
  }

  const isSequence = vr === 'SQ' || (vr === 'UN' && (length === null || typeof want === 'object'));
  if (isSequence && (length === null || typeof want === 'object')) {
    // A sequence of unknown representation is always written with implicit ones. Source: PS3.5 6.2.2, note 4.
    const inner = vr === 'UN' ? { ...walk, isExplicit: false } : walk;
    const kept = typeof want === 'object' ? want : undefined;
    return readItems(inner, element, kept, values, depth + 1);
  }
  if (typeof want === 'object') throw corrupt(`${nameOfTag(element.tag)} is no sequence`);
  const bytes = length ?? 0;
  if (want === 'place') values.set(element.tag, { kind: 'place', place: { at, length } });
  if (want === 'value') {
    if (bytes > limits.valueBytes) throw tooMuch(`${nameOfTag(element.tag)} has ${bytes} bytes`);
    if (!walk.window.covers(at, bytes)) await walk.window.load(at, bytes);
    const known = vr === 'UN' ? vrOfTag(element.tag) : vr;
    values.set(element.tag, { kind: 'bytes', vr: known, bytes: walk.window.copy(at, bytes) });
  }
  return at + bytes;
}

/** @returns place after the sequence */
async function readItems(
  walk: Walk,
  { tag: number, at: start, length }: Element,
  want: WantedItems | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  if (depth > limits.sequenceDepth) throw tooMuch('its sequences are nested too deeply');
  const { window, budget } = walk;
  const end = length === null ? null : start + length;
  const items: DataSet[] = [];
  let at = start;
  while (end === null || at < end) {
    if (!window.covers(at, ITEM_HEADER)) await loadAtMost(window, at, end);
    const itemTag = tagAt(window, at);
    const itemLength = window.u32(at + 4);
    at += ITEM_HEADER;
    if (itemTag === tag.SequenceDelimitationItem && end === null) break;
    if (itemTag !== tag.Item) throw corrupt(`${nameOfTag(number)} holds something else than items`);
    if (--budget.elements < 0) throw tooMuch('its header has no end');
    const itemEnd = itemLength === UNDEFINED_LENGTH ? null : at + itemLength;
    if (itemEnd !== null) checkInside(walk, number, at, itemLength, end);
    if (want === undefined && itemEnd !== null) {
      at = itemEnd;
      continue;
    }
    const itemValues = new Map<number, Value>();
    at = await readElements(walk, at, itemEnd, want?.items ?? nothing, itemValues, depth, null);
    if (want?.each) want.each(dataSetOf(itemValues));
    else if (want) items.push(dataSetOf(itemValues));
    if (items.length > limits.items)
      throw tooMuch(`${nameOfTag(number)} has more than ${limits.items} items`);
  }
  if (end !== null && at !== end) throw corrupt(`an item does not fit into ${nameOfTag(number)}`);
  if (want && !want.each) values.set(number, { kind: 'items', items });
  return at;
}

const nothing: Wanted = new Map();
/** A tag and a length, as items and delimiters have. */
const ITEM_HEADER = 8;
const LONG_HEADER = 12;

/** Encapsulated pixels of an icon, say; nobody asks for them. @returns place after them */
async function skipFragments({ window, budget }: Walk, start: number): Promise<number> {
  for (let at = start; ; ) {
    if (!window.covers(at, ITEM_HEADER)) await loadAtMost(window, at, null);
    const itemTag = tagAt(window, at);
    const length = window.u32(at + 4);
    at += ITEM_HEADER;
    if (itemTag === tag.SequenceDelimitationItem) return at;
    if (itemTag !== tag.Item || length === UNDEFINED_LENGTH)
      throw corrupt('its encapsulated data hold no items');
    if (--budget.elements < 0) throw tooMuch('its header has no end');
    at += length;
  }
}

/** @returns null when the window does not cover it */
function readHeader({ window, isExplicit }: Walk, at: number): Element | null {
  if (!window.covers(at, ITEM_HEADER)) return null;
  const number = tagAt(window, at);
  if (!isExplicit || number >>> 16 === 0xfffe) {
    const length = lengthAt(window, at + 4);
    const declared = vrOfTag(number);
    // Where nothing says a representation, an undefined length can only be a sequence's.
    const vr = length === null && declared === 'UN' ? 'SQ' : declared;
    return { tag: number, vr, at: at + ITEM_HEADER, length };
  }
  const vr = String.fromCharCode(window.u8(at + 4), window.u8(at + 5));
  if (shortVrs.has(vr)) return { tag: number, vr, at: at + ITEM_HEADER, length: window.u16(at + 6) };
  if (!longVrs.has(vr)) throw corrupt(`${nameOfTag(number)} has no value representation that is known`);
  if (!window.covers(at, LONG_HEADER)) return null;
  return { tag: number, vr, at: at + LONG_HEADER, length: lengthAt(window, at + 8) };
}

async function loadHeader(walk: Walk, at: number): Promise<Element> {
  await loadAtMost(walk.window, at, null);
  const header = readHeader(walk, at);
  if (!header) throw truncated('it ends inside a data element');
  return header;
}

/** The longer of the two headers, or what is left of the file. */
async function loadAtMost(window: ByteWindow, at: number, end: number | null): Promise<void> {
  if (at + ITEM_HEADER > window.size) throw truncated(`it ends at ${window.size}, inside a data element`);
  if (end !== null && at + ITEM_HEADER > end) throw corrupt('an element does not fit into what surrounds it');
  await window.load(at, Math.min(LONG_HEADER, window.size - at));
}

/** @returns place after a value, which must lie in the file and in the item that surrounds it */
function checkInside(
  { window }: Walk,
  number: number,
  at: number,
  length: number,
  end: number | null,
): number {
  const valueEnd = at + length;
  if (valueEnd > window.size) {
    throw truncated(`it ends at ${window.size}, before the end of ${nameOfTag(number)}`);
  }
  if (end !== null && valueEnd > end)
    throw corrupt(`${nameOfTag(number)} does not fit into what surrounds it`);
  return valueEnd;
}

const tagAt = (window: ByteWindow, at: number): number => ((window.u16(at) << 16) | window.u16(at + 2)) >>> 0;

function lengthAt(window: ByteWindow, at: number): number | null {
  const length = window.u32(at);
  return length === UNDEFINED_LENGTH ? null : length;
}
