/**
 * Parses data sets: visits data elements, reads the selected values and skips all others. Every step counts against a
 * limit, no byte is visited twice, and every length is checked against the enclosing item.
 *
 * Source: DICOM PS3.5, sections 7.1 (data elements), 7.5 (sequences) and A.4 (encapsulated pixel data).
 */
import type { ByteWindow } from '../source/byte-window.ts';
import { type DataSet, dataSetOf, type Value } from './data-set.ts';
import { corrupt, limitExceeded, truncated } from './errors.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag, tag, vrOfTag } from './tags.ts';

/** Elements to read: the value, only its position, or selected elements of a sequence's items. */
export type ElementSelection = ReadonlyMap<number, 'value' | 'place' | ItemSelection>;

export interface ItemSelection {
  readonly items: ElementSelection;
  /** Called with each item, which is then not kept. */
  readonly each?: (item: DataSet) => void;
}

/** Selects the values of these elements. */
export const valuesOf = (tags: readonly Tag[]): ElementSelection =>
  new Map(tags.map((number) => [number, 'value']));

/** Number of data elements that may still be visited. */
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
  /** Offset after the last element that was read. */
  readonly end: number;
}

const UNDEFINED_LENGTH = 0xffff_ffff;
/** Value representations with two reserved bytes and a 4-byte length; all others have a 2-byte length. Source: PS3.5 7.1.2. */
const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);
const shortVrs = new Set('AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US'.split(' '));

interface Element {
  readonly tag: number;
  readonly vr: string;
  /** Offset of the value. */
  readonly at: number;
  /** Length in bytes; null when the file leaves it undefined and a delimiter ends the value. */
  readonly length: number | null;
}

/**
 * Reads the data set of a file.
 *
 * @param at its offset
 * @param stopsAt whether to stop before a tag; elements are ordered by tag
 * @returns pixel data, when the data set reaches them, as a position; nothing after them is read
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readDataSet(
  walk: Walk,
  at: number,
  selection: ElementSelection,
  stopsAt: (tag: number) => boolean,
): Promise<DataSetExtent> {
  const values = new Map<number, Value>();
  const end = await readElements(walk, at, walk.window.size, selection, values, 0, stopsAt);
  return { dataSet: dataSetOf(values), end };
}

/**
 * @param end of the elements; null when a delimiter ends them
 * @returns the offset after the last element and the delimiter
 */
async function readElements(
  walk: Walk,
  start: number,
  end: number | null,
  selection: ElementSelection,
  values: Map<number, Value>,
  depth: number,
  stopsAt: ((tag: number) => boolean) | null,
): Promise<number> {
  let at = start;
  while (end === null || at < end) {
    if (!walk.window.covers(at, ITEM_HEADER)) await loadAtMost(walk.window, at, end);
    const number = tagAt(walk.window, at);
    if (number === tag.ItemDelimitationItem && end === null) return at + ITEM_HEADER;
    if (number >>> 16 === 0xfffe) throw corrupt(`${nameOfTag(number)} is among data elements`);
    // Checked first: the elements of the next group may have another encoding.
    if (stopsAt?.(number)) return at;
    const header = readHeader(walk, at) ?? (await loadHeader(walk, at));
    if (--walk.budget.elements < 0) throw limitExceeded('its header has too many elements');

    const selected = selection.get(header.tag);
    if (selected !== undefined && values.has(header.tag))
      throw corrupt(`${nameOfTag(header.tag)} is a duplicate element`);
    if (depth === 0 && header.tag === tag.PixelData) {
      values.set(header.tag, { kind: 'place', place: { at: header.at, length: header.length } });
      return header.at;
    }
    if (selected === undefined && header.length !== null) {
      at = checkInside(walk, header.tag, header.at, header.length, end);
    } else {
      at = await readElement(walk, header, end, selected, values, depth);
    }
  }
  if (at !== end) throw corrupt('a sequence is longer than its item');
  return at;
}

/** Visits one element: reads, enters or skips it. Returns the offset after the element. */
async function readElement(
  walk: Walk,
  element: Element,
  end: number | null,
  selected: 'value' | 'place' | ItemSelection | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  const { vr, at, length } = element;
  if (length === null) {
    if (vr === 'OB' || vr === 'OW') return skipFragments(walk, at);
    if (vr !== 'SQ' && vr !== 'UN') throw corrupt(`${nameOfTag(element.tag)} has an undefined length`);
  } else {
    checkInside(walk, element.tag, at, length, end);
  }

  const isSequence = vr === 'SQ' || (vr === 'UN' && (length === null || typeof selected === 'object'));
  if (isSequence && (length === null || typeof selected === 'object')) {
    // A sequence of unknown representation always has implicit elements. Source: PS3.5 6.2.2, note 4.
    const inner = vr === 'UN' ? { ...walk, isExplicit: false } : walk;
    const itemSelection = typeof selected === 'object' ? selected : undefined;
    return readItems(inner, element, itemSelection, values, depth + 1);
  }
  if (typeof selected === 'object') throw corrupt(`${nameOfTag(element.tag)} is not a sequence`);
  const bytes = length ?? 0;
  if (selected === 'place') values.set(element.tag, { kind: 'place', place: { at, length } });
  if (selected === 'value') {
    if (bytes > limits.valueBytes) throw limitExceeded(`${nameOfTag(element.tag)} has ${bytes} bytes`);
    if (!walk.window.covers(at, bytes)) await walk.window.load(at, bytes);
    const known = vr === 'UN' ? vrOfTag(element.tag) : vr;
    values.set(element.tag, { kind: 'bytes', vr: known, bytes: walk.window.copy(at, bytes) });
  }
  return at + bytes;
}

/** Visits the items of a sequence. Returns the offset after the sequence. */
async function readItems(
  walk: Walk,
  { tag: number, at: start, length }: Element,
  selected: ItemSelection | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  if (depth > limits.sequenceDepth) throw limitExceeded('its sequences are nested too deeply');
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
    if (itemTag !== tag.Item) throw corrupt(`${nameOfTag(number)} contains something other than items`);
    if (--budget.elements < 0) throw limitExceeded('its header has too many elements');
    const itemEnd = itemLength === UNDEFINED_LENGTH ? null : at + itemLength;
    if (itemEnd !== null) checkInside(walk, number, at, itemLength, end);
    if (selected === undefined && itemEnd !== null) {
      at = itemEnd;
      continue;
    }
    const itemValues = new Map<number, Value>();
    at = await readElements(walk, at, itemEnd, selected?.items ?? emptySelection, itemValues, depth, null);
    if (selected?.each) selected.each(dataSetOf(itemValues));
    else if (selected) items.push(dataSetOf(itemValues));
    if (items.length > limits.items)
      throw limitExceeded(`${nameOfTag(number)} has more than ${limits.items} items`);
  }
  if (end !== null && at !== end) throw corrupt(`an item is longer than ${nameOfTag(number)}`);
  if (selected && !selected.each) values.set(number, { kind: 'items', items });
  return at;
}

const emptySelection: ElementSelection = new Map();
/** Bytes of a tag and a length, as items and delimiters have. */
const ITEM_HEADER = 8;
const LONG_HEADER = 12;

/** Skips encapsulated pixels, e.g. of an icon, which are never read. Returns the offset after them. */
async function skipFragments({ window, budget }: Walk, start: number): Promise<number> {
  for (let at = start; ; ) {
    if (!window.covers(at, ITEM_HEADER)) await loadAtMost(window, at, null);
    const itemTag = tagAt(window, at);
    const length = window.u32(at + 4);
    at += ITEM_HEADER;
    if (itemTag === tag.SequenceDelimitationItem) return at;
    if (itemTag !== tag.Item || length === UNDEFINED_LENGTH)
      throw corrupt('its encapsulated data contain no items');
    if (--budget.elements < 0) throw limitExceeded('its header has too many elements');
    at += length;
  }
}

/** Returns null when the window does not cover the header. */
function readHeader({ window, isExplicit }: Walk, at: number): Element | null {
  if (!window.covers(at, ITEM_HEADER)) return null;
  const number = tagAt(window, at);
  if (!isExplicit || number >>> 16 === 0xfffe) {
    const length = lengthAt(window, at + 4);
    const declared = vrOfTag(number);
    // Without a stated representation, only a sequence can have an undefined length.
    const vr = length === null && declared === 'UN' ? 'SQ' : declared;
    return { tag: number, vr, at: at + ITEM_HEADER, length };
  }
  const vr = String.fromCharCode(window.u8(at + 4), window.u8(at + 5));
  if (shortVrs.has(vr)) return { tag: number, vr, at: at + ITEM_HEADER, length: window.u16(at + 6) };
  if (!longVrs.has(vr)) throw corrupt(`${nameOfTag(number)} has an unknown value representation`);
  if (!window.covers(at, LONG_HEADER)) return null;
  return { tag: number, vr, at: at + LONG_HEADER, length: lengthAt(window, at + 8) };
}

async function loadHeader(walk: Walk, at: number): Promise<Element> {
  await loadAtMost(walk.window, at, null);
  const header = readHeader(walk, at);
  if (!header) throw truncated('it ends inside a data element');
  return header;
}

/** Loads the longer of the two header types, or the rest of the file. */
async function loadAtMost(window: ByteWindow, at: number, end: number | null): Promise<void> {
  if (at + ITEM_HEADER > window.size) throw truncated(`it ends at ${window.size}, inside a data element`);
  if (end !== null && at + ITEM_HEADER > end) throw corrupt('an element is longer than its enclosing item');
  await window.load(at, Math.min(LONG_HEADER, window.size - at));
}

/** Returns the offset after a value, which must lie in the file and in its enclosing item. */
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
  if (end !== null && valueEnd > end) throw corrupt(`${nameOfTag(number)} is longer than its enclosing item`);
  return valueEnd;
}

const tagAt = (window: ByteWindow, at: number): number => ((window.u16(at) << 16) | window.u16(at + 2)) >>> 0;

function lengthAt(window: ByteWindow, at: number): number | null {
  const length = window.u32(at);
  return length === UNDEFINED_LENGTH ? null : length;
}
