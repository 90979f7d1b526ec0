/**
 * The tag tree of a .vsi file. The tree follows the TIFF header: a volume is a list of fields, and a field holds a
 * value or another volume.
 *
 * Source: the structure as Bio-Formats (CellSensReader) and SlideIO (vsifile) read it, and as found in the test files
 * vsi-ets-test-jpg2k.vsi and Image_Mouse13_PB_H7.vsi; all numbers are little-endian.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { type ByteWindow, byteWindow } from '../source/byte-window.ts';
import { corruptError, incompleteError, limitExceededError } from './errors.ts';
import { limits } from './limits.ts';

/** One step of a path in the tree. */
export interface Step {
  /** Number that states the meaning of the field (`vsiTag` in stacks.ts). */
  readonly tag: number;
  /** Distinguishes fields with the same tag; null when the file gives the field no index. */
  readonly index: number | null;
}

/** A field with a value. */
export interface Leaf {
  /** Steps from the root to the field. */
  readonly path: readonly Step[];
  /** Data type of the value, as in the file. */
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** The tree begins after the TIFF header of the file. */
const TREE_OFFSET = 8;
/** Header of a volume: length (byte 0), magic number (2), offset of the first field (8), number of fields (16). */
const VOLUME_BYTES = 24;
const VOLUME_MAGIC = 0x5349;
/** Header of a field: type and flags (byte 0), tag (4), offset of the next field (8), value or its length (12). */
const FIELD_HEADER_BYTES = 16;
/** Flags of a field's type. Extended fields are volumes or other structures; an inline value is in the header. */
const flag = { hasIndex: 0x0800_0000, isExtended: 0x1000_0000, isInline: 0x4000_0000 } as const;
/** Bits of the type of a field, without its flags. */
const TYPE_MASK = 0x00ff_ffff;
/** Bits in the header of a volume that hold its number of fields; the bits above them are ignored. */
const COUNT_MASK = 0x0fff_ffff;
/** Types of extended fields that are volumes; the others are TIFF directories and drawings, which are skipped. */
const VOLUME_TYPES = new Set([0, 1, 2]);

/** Returns whether a file that begins with these bytes is a .vsi file, which may also be valid TIFF. */
export function isVsi(start: Uint8Array): boolean {
  if (start.length < TREE_OFFSET + 4) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  const isLittleEndianTiff = view.getUint32(0, true) === 0x002a_4949; // "II*" and NUL
  return (
    isLittleEndianTiff && isVolume(view.getUint16(TREE_OFFSET, true), view.getUint16(TREE_OFFSET + 2, true))
  );
}

/**
 * Reads the values of the requested tags, anywhere in the tree, in the order of the file. Skips values larger than
 * `limits.valueBytes`.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readLeaves(source: ByteSource, tags: ReadonlySet<number>): Promise<readonly Leaf[]> {
  const walk: Walk = { window: byteWindow(source), tags, leaves: [], fields: 0, valueBytes: 0 };
  await walkVolume(walk, TREE_OFFSET, []);
  return walk.leaves;
}

/** State of one walk through the tree. */
interface Walk {
  /** The part of the file in memory. */
  readonly window: ByteWindow;
  readonly tags: ReadonlySet<number>;
  /** Values found so far. */
  readonly leaves: Leaf[];
  /** Number of fields visited so far. */
  fields: number;
  /** Bytes of the values found so far. */
  valueBytes: number;
}

/** Visits the fields of the volume at `offset`. Returns at once if there is no volume. */
async function walkVolume(walk: Walk, offset: number, path: readonly Step[]): Promise<void> {
  const { window } = walk;
  if (path.length > limits.depth) throw limitExceededError(`its fields are nested ${path.length} deep`);
  if (offset + VOLUME_BYTES > window.size) throw incompleteError('the file ends inside a volume');
  if (!window.covers(offset, VOLUME_BYTES)) await window.load(offset, VOLUME_BYTES);
  if (!isVolume(window.u16(offset), window.u16(offset + 2))) return;
  const firstFieldOffset = window.u32(offset + 8);
  if (window.u32(offset + 12) !== 0) throw corruptError('the first field of a volume is beyond 4 GiB');
  const count = window.u32(offset + 16) & COUNT_MASK;
  if (count > 0 && firstFieldOffset < VOLUME_BYTES) {
    throw corruptError('the first field of a volume is in its own header');
  }

  /** Offset of the current field from the volume's first byte. */
  let fieldOffset = firstFieldOffset;
  for (let i = 0; i < count; i++) {
    const nextFieldOffset = await walkField(walk, offset + fieldOffset, path);
    if (nextFieldOffset === 0) return;
    // Offsets must increase, so that a cycle of fields cannot loop for ever.
    if (nextFieldOffset <= fieldOffset) throw corruptError('the offsets of its fields go backwards');
    fieldOffset = nextFieldOffset;
  }
}

/** Visits a field. Returns the offset of the next field from the volume's first byte; 0 after the last field. */
async function walkField(walk: Walk, offset: number, path: readonly Step[]): Promise<number> {
  const { window } = walk;
  walk.fields++;
  if (walk.fields > limits.fields) throw limitExceededError(`it has more than ${limits.fields} fields`);
  if (offset + FIELD_HEADER_BYTES > window.size) throw incompleteError('the file ends inside a field');
  const headerAndIndexBytes = FIELD_HEADER_BYTES + 4;
  const loadBytes = Math.min(headerAndIndexBytes, window.size - offset);
  if (!window.covers(offset, loadBytes)) await window.load(offset, loadBytes);

  const typeAndFlags = window.u32(offset);
  const tag = window.u32(offset + 4);
  const nextFieldOffset = window.u32(offset + 8);
  const valueBytes = window.u32(offset + 12);
  const hasIndex = (typeAndFlags & flag.hasIndex) !== 0;
  if (hasIndex && loadBytes < headerAndIndexBytes) throw incompleteError('the file ends inside a field');
  const step: Step = { tag, index: hasIndex ? window.u32(offset + FIELD_HEADER_BYTES) : null };
  const bodyOffset = offset + (hasIndex ? headerAndIndexBytes : FIELD_HEADER_BYTES);
  const type = typeAndFlags & TYPE_MASK;
  if ((typeAndFlags & flag.isExtended) !== 0) {
    if (VOLUME_TYPES.has(type)) await walkVolume(walk, bodyOffset, [...path, step]);
  } else if (walk.tags.has(tag)) {
    const isInline = (typeAndFlags & flag.isInline) !== 0;
    const bytes = isInline ? window.copy(offset + 12, 4) : await readValue(window, bodyOffset, valueBytes);
    if (bytes) {
      walk.valueBytes += bytes.length;
      if (walk.valueBytes > limits.allValueBytes) {
        throw limitExceededError(`its values have more than ${limits.allValueBytes} bytes`);
      }
      walk.leaves.push({ path: [...path, step], type, bytes });
    }
  }
  return nextFieldOffset;
}

/** Reads a value; returns null when it has more than `limits.valueBytes`. */
async function readValue(window: ByteWindow, offset: number, size: number): Promise<Uint8Array | null> {
  if (size > limits.valueBytes) return null;
  if (offset + size > window.size) throw incompleteError('the file ends inside a value');
  if (!window.covers(offset, size)) await window.load(offset, size);
  return window.copy(offset, size);
}

function isVolume(headerBytes: number, magic: number): boolean {
  return headerBytes === VOLUME_BYTES && magic === VOLUME_MAGIC;
}
