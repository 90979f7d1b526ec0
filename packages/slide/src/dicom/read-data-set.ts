/**
 * Parser of DICOM data sets: it visits data elements, reads the selected values and skips all others. A value representation (VR)
 * is the data type of an element; a sequence is an element whose value is a list of items, each with elements.
 *
 * Every visited element counts against a limit, no byte is visited twice, and every length is checked against the enclosing item.
 *
 * Source: DICOM PS3.5, sections 7.1 (data elements), 7.5 (sequences) and A.4 (encapsulated pixel data).
 */
import type { ByteWindow } from '../source/byte-window.ts';
import { type DataSet, dataSetOf, type Value } from './data-set.ts';
import { corruptError, limitExceededError, truncatedError } from './errors.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag, tag, vrOfTag } from './tags.ts';

/** Elements to read, by tag: the value, only its position in the file, or selected elements in the items of a sequence. */
export type ElementSelection = ReadonlyMap<number, 'value' | 'position' | ItemSelection>;

export interface ItemSelection {
  readonly items: ElementSelection;
  /** Receives each item; if it is set, the items are not kept in memory. */
  readonly onItem?: (item: DataSet) => void;
}

/** Selects the values of these elements. */
export const valuesOf = (tags: readonly Tag[]): ElementSelection =>
  new Map(tags.map((elementTag) => [elementTag, 'value']));

/** Number of data elements that may still be visited. */
export interface Budget {
  elements: number;
}

/** State of reading one file. */
export interface ParseContext {
  /** The part of the file in memory. */
  readonly window: ByteWindow;
  /** Whether every data element states its value representation. */
  readonly isExplicit: boolean;
  readonly budget: Budget;
}

export interface DataSetExtent {
  readonly dataSet: DataSet;
  /** Offset after the last element that was read; at the pixel data, the offset of their value. */
  readonly end: number;
}

const UNDEFINED_LENGTH = 0xffff_ffff;
/** Bytes of a tag and a length: the header of items, delimiters and most elements. */
const SHORT_HEADER_BYTES = 8;
/** Bytes of the header of an element with a representation of `longVrs`. */
const LONG_HEADER_BYTES = 12;
/** Group (upper 16 bits of the tag) of items and delimiters, which never have a value representation. */
const ITEM_GROUP = 0xfffe;
/** Value representations with two reserved bytes and a 4-byte length; all others have a 2-byte length. Source: PS3.5 7.1.2. */
const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);
const shortVrs = new Set('AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US'.split(' '));

/** The header of a data element. */
interface Element {
  readonly tag: number;
  /** Value representation, two letters. */
  readonly vr: string;
  /** Offset of the value. */
  readonly offset: number;
  /** Length in bytes; null when the file leaves it undefined and a delimiter ends the value. */
  readonly length: number | null;
}

/**
 * Reads the elements of a data set, which are ordered by tag, up to the first element for which `stopsAt` returns true.
 * Always stops at the pixel data: the data set then contains their position, and `end` is the offset of their value.
 *
 * @param offset position of the first element
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readDataSet(
  context: ParseContext,
  offset: number,
  selection: ElementSelection,
  stopsAt: (tag: number) => boolean,
): Promise<DataSetExtent> {
  const values = new Map<number, Value>();
  const end = await readElements(context, offset, context.window.size, selection, values, 0, stopsAt);
  return { dataSet: dataSetOf(values), end };
}

/**
 * Reads the elements of a data set or of an item into `values`.
 *
 * @param end offset after the elements; null when a delimiter ends them
 * @param depth number of enclosing sequences; 0 for the data set of the file
 * @param stopsAt whether to stop before the element with this tag; null to read all elements
 * @returns the offset after the last element, or after the delimiter if there is one; at the pixel data, the offset of
 *   their value
 */
async function readElements(
  context: ParseContext,
  start: number,
  end: number | null,
  selection: ElementSelection,
  values: Map<number, Value>,
  depth: number,
  stopsAt: ((tag: number) => boolean) | null,
): Promise<number> {
  let offset = start;
  while (end === null || offset < end) {
    if (!context.window.covers(offset, SHORT_HEADER_BYTES))
      await loadHeaderBytes(context.window, offset, end);
    const elementTag = tagAt(context.window, offset);
    if (elementTag === tag.ItemDelimitationItem && end === null) return offset + SHORT_HEADER_BYTES;
    if (elementTag >>> 16 === ITEM_GROUP)
      throw corruptError(`${nameOfTag(elementTag)} is among data elements`);
    // Checked before the header is parsed: after the file meta information (group 0002), headers may have another encoding.
    if (stopsAt?.(elementTag)) return offset;
    const header = readHeader(context, offset) ?? (await loadHeader(context, offset));
    if (--context.budget.elements < 0) throw limitExceededError('its header has too many elements');

    const selected = selection.get(header.tag);
    if (selected !== undefined && values.has(header.tag))
      throw corruptError(`${nameOfTag(header.tag)} is a duplicate element`);
    if (depth === 0 && header.tag === tag.PixelData) {
      values.set(header.tag, {
        kind: 'position',
        position: { offset: header.offset, length: header.length },
      });
      return header.offset;
    }
    if (selected === undefined && header.length !== null) {
      // Skips the element without a call of the async function `readElement`: a header may have millions of elements.
      offset = checkInside(context, header.tag, header.offset, header.length, end);
    } else {
      offset = await readElement(context, header, end, selected, values, depth);
    }
  }
  // Only a sequence of undefined length can extend beyond `end`: its length could not be checked before it was read.
  if (offset !== end) throw corruptError('a sequence is longer than its item');
  return offset;
}

/** Visits one element: reads its value or its items, or skips it. Returns the offset after the element. */
async function readElement(
  context: ParseContext,
  element: Element,
  end: number | null,
  selected: 'value' | 'position' | ItemSelection | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  const { vr, offset, length } = element;
  if (length === null) {
    if (vr === 'OB' || vr === 'OW') return skipFragments(context, offset);
    if (vr !== 'SQ' && vr !== 'UN') throw corruptError(`${nameOfTag(element.tag)} has an undefined length`);
  } else {
    checkInside(context, element.tag, offset, length, end);
  }

  const itemSelection = typeof selected === 'object' ? selected : undefined;
  const mustReadItems = length === null || itemSelection !== undefined;
  if (mustReadItems && (vr === 'SQ' || vr === 'UN')) {
    // In a sequence with the representation UN, no element states its representation. Source: PS3.5 6.2.2, note 4.
    const itemContext = vr === 'UN' ? { ...context, isExplicit: false } : context;
    return readItems(itemContext, element, itemSelection, values, depth + 1);
  }
  if (itemSelection) throw corruptError(`${nameOfTag(element.tag)} is not a sequence`);
  const size = length ?? 0; // never null here: for an undefined length, the function has returned above
  if (selected === 'position') values.set(element.tag, { kind: 'position', position: { offset, length } });
  if (selected === 'value') {
    if (size > limits.valueBytes) throw limitExceededError(`${nameOfTag(element.tag)} has ${size} bytes`);
    if (!context.window.covers(offset, size)) await context.window.load(offset, size);
    const actualVr = vr === 'UN' ? vrOfTag(element.tag) : vr;
    values.set(element.tag, { kind: 'bytes', vr: actualVr, bytes: context.window.copy(offset, size) });
  }
  return offset + size;
}

/** Visits the items of a sequence. Returns the offset after the sequence. */
async function readItems(
  context: ParseContext,
  { tag: sequenceTag, offset: start, length }: Element,
  selected: ItemSelection | undefined,
  values: Map<number, Value>,
  depth: number,
): Promise<number> {
  if (depth > limits.sequenceDepth) throw limitExceededError('its sequences are nested too deeply');
  const { window, budget } = context;
  const end = length === null ? null : start + length;
  const items: DataSet[] = [];
  let offset = start;
  while (end === null || offset < end) {
    if (!window.covers(offset, SHORT_HEADER_BYTES)) await loadHeaderBytes(window, offset, end);
    const itemTag = tagAt(window, offset);
    const itemLength = window.u32(offset + 4);
    offset += SHORT_HEADER_BYTES;
    if (itemTag === tag.SequenceDelimitationItem && end === null) break;
    if (itemTag !== tag.Item)
      throw corruptError(`${nameOfTag(sequenceTag)} contains something other than items`);
    if (--budget.elements < 0) throw limitExceededError('its header has too many elements');
    const itemEnd = itemLength === UNDEFINED_LENGTH ? null : offset + itemLength;
    if (itemEnd !== null) checkInside(context, sequenceTag, offset, itemLength, end);
    if (selected === undefined && itemEnd !== null) {
      offset = itemEnd;
      continue;
    }
    const itemValues = new Map<number, Value>();
    offset = await readElements(
      context,
      offset,
      itemEnd,
      selected?.items ?? emptySelection,
      itemValues,
      depth,
      null,
    );
    if (selected?.onItem) selected.onItem(dataSetOf(itemValues));
    else if (selected) items.push(dataSetOf(itemValues));
    if (items.length > limits.items)
      throw limitExceededError(`${nameOfTag(sequenceTag)} has more than ${limits.items} items`);
  }
  if (end !== null && offset !== end) throw corruptError(`an item is longer than ${nameOfTag(sequenceTag)}`);
  if (selected && !selected.onItem) values.set(sequenceTag, { kind: 'items', items });
  return offset;
}

const emptySelection: ElementSelection = new Map();

/** Skips encapsulated pixel data inside a sequence, e.g. of an icon image. Returns the offset after the pixel data. */
async function skipFragments({ window, budget }: ParseContext, start: number): Promise<number> {
  for (let offset = start; ; ) {
    if (!window.covers(offset, SHORT_HEADER_BYTES)) await loadHeaderBytes(window, offset, null);
    const itemTag = tagAt(window, offset);
    const length = window.u32(offset + 4);
    offset += SHORT_HEADER_BYTES;
    if (itemTag === tag.SequenceDelimitationItem) return offset;
    if (itemTag !== tag.Item || length === UNDEFINED_LENGTH)
      throw corruptError('its encapsulated pixel data contain something other than items');
    if (--budget.elements < 0) throw limitExceededError('its header has too many elements');
    offset += length;
  }
}

/**
 * Parses the header of an element; returns null when the window does not cover it. An implicit header is the tag (4 bytes)
 * and the length (4). An explicit header is the tag, the VR (2) and the length (2), or for a long VR two reserved bytes
 * and the length (4).
 */
function readHeader({ window, isExplicit }: ParseContext, offset: number): Element | null {
  if (!window.covers(offset, SHORT_HEADER_BYTES)) return null;
  const elementTag = tagAt(window, offset);
  if (!isExplicit || elementTag >>> 16 === ITEM_GROUP) {
    const length = lengthAt(window, offset + 4);
    const standardVr = vrOfTag(elementTag);
    // Without a stated representation, only a sequence can have an undefined length.
    const vr = length === null && standardVr === 'UN' ? 'SQ' : standardVr;
    return { tag: elementTag, vr, offset: offset + SHORT_HEADER_BYTES, length };
  }
  const vr = String.fromCharCode(window.u8(offset + 4), window.u8(offset + 5));
  if (shortVrs.has(vr))
    return { tag: elementTag, vr, offset: offset + SHORT_HEADER_BYTES, length: window.u16(offset + 6) };
  if (!longVrs.has(vr)) throw corruptError(`${nameOfTag(elementTag)} has an unknown value representation`);
  if (!window.covers(offset, LONG_HEADER_BYTES)) return null;
  return { tag: elementTag, vr, offset: offset + LONG_HEADER_BYTES, length: lengthAt(window, offset + 8) };
}

/** Loads and parses the header of an element. */
async function loadHeader(context: ParseContext, offset: number): Promise<Element> {
  await loadHeaderBytes(context.window, offset, null); // null: limited only by the end of the file
  const header = readHeader(context, offset);
  if (!header) throw truncatedError('it ends inside a data element');
  return header;
}

/** Loads the bytes of the longest header that an element may have, or the rest of the file if that is shorter. */
async function loadHeaderBytes(window: ByteWindow, offset: number, end: number | null): Promise<void> {
  if (offset + SHORT_HEADER_BYTES > window.size)
    throw truncatedError(`it ends at ${window.size}, inside a data element`);
  if (end !== null && offset + SHORT_HEADER_BYTES > end)
    throw corruptError('an element is longer than its enclosing item');
  await window.load(offset, Math.min(LONG_HEADER_BYTES, window.size - offset));
}

/** Checks that a value lies in the file and in its enclosing item, which ends at `end`. Returns the offset after the value. */
function checkInside(
  { window }: ParseContext,
  elementTag: number,
  offset: number,
  length: number,
  end: number | null,
): number {
  const valueEnd = offset + length;
  if (valueEnd > window.size) {
    throw truncatedError(`it ends at ${window.size}, before the end of ${nameOfTag(elementTag)}`);
  }
  if (end !== null && valueEnd > end)
    throw corruptError(`${nameOfTag(elementTag)} is longer than its enclosing item`);
  return valueEnd;
}

/** Reads a tag: 16 bits for the group, then 16 bits for the element, each little-endian. */
const tagAt = (window: ByteWindow, offset: number): number =>
  ((window.u16(offset) << 16) | window.u16(offset + 2)) >>> 0;

/** Returns the length at an offset; null when it is undefined. */
function lengthAt(window: ByteWindow, offset: number): number | null {
  const length = window.u32(offset);
  return length === UNDEFINED_LENGTH ? null : length;
}
