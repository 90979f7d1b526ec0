/**
 * Reads the tag tree of a .vsi file: after a TIFF header come volumes of fields, and a field may be a volume.
 *
 * Source: the structure as Bio-Formats (CellSensReader) and SlideIO (vsifile) read it, and as found in
 * vsi-ets-test-jpg2k.vsi and Image_Mouse13_PB_H7.vsi; all numbers are little-endian.
 */

import type { ByteSource } from '../source/byte-source.ts';
import { type ByteWindow, byteWindow } from '../source/byte-window.ts';
import { corrupt, incomplete, limitExceeded } from './errors.ts';
import { limits } from './limits.ts';

/** One step of a path in the tree: the tag of a field, and its index. */
export interface Step {
  readonly tag: number;
  /** Null when there is only one field with the tag. */
  readonly index: number | null;
}

/** A requested value. */
export interface Leaf {
  /** From the root to the field. */
  readonly path: readonly Step[];
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** The tree begins after the header of the TIFF file. */
const TREE_AT = 8;
const VOLUME_BYTES = 24;
const VOLUME_MAGIC = 0x5349;
const FIELD_BYTES = 16;
/** Bits of a field's type. */
const flag = { index: 0x0800_0000, extended: 0x1000_0000, inline: 0x4000_0000 } as const;
const TYPE_MASK = 0x00ff_ffff;
const COUNT_MASK = 0x0fff_ffff;
/** Types of extended fields that are volumes; others are TIFF directories and drawings. */
const VOLUME_TYPES = new Set([0, 1, 2]);

/** Whether a file that begins with these bytes is a .vsi file; it may be valid TIFF too. */
export function isVsi(start: Uint8Array): boolean {
  if (start.length < TREE_AT + 4) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  const isLittleEndianTiff = view.getUint32(0, true) === 0x002a_4949;
  return isLittleEndianTiff && isVolume(view.getUint16(TREE_AT, true), view.getUint16(TREE_AT + 2, true));
}

/**
 * Reads the requested values of the tree, in the order of the file.
 *
 * @param tags of the requested fields, at any position
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readLeaves(source: ByteSource, tags: ReadonlySet<number>): Promise<readonly Leaf[]> {
  const walk: Walk = { window: byteWindow(source), tags, leaves: [], fields: 0 };
  await walkVolume(walk, TREE_AT, []);
  return walk.leaves;
}

interface Walk {
  readonly window: ByteWindow;
  readonly tags: ReadonlySet<number>;
  readonly leaves: Leaf[];
  fields: number;
}

/** Visits the fields of a volume; anything that is not a volume is skipped. */
async function walkVolume(walk: Walk, at: number, path: readonly Step[]): Promise<void> {
  const { window } = walk;
  if (path.length > limits.depth) throw limitExceeded(`its fields are nested ${path.length} deep`);
  if (at + VOLUME_BYTES > window.size) throw incomplete('the file ends inside a volume');
  if (!window.covers(at, VOLUME_BYTES)) await window.load(at, VOLUME_BYTES);
  if (!isVolume(window.u16(at), window.u16(at + 2))) return;
  const firstAt = window.u32(at + 8);
  if (window.u32(at + 12) !== 0) throw corrupt('the first field of a volume is beyond 4 GiB');
  const count = window.u32(at + 16) & COUNT_MASK;
  if (count > 0 && firstAt < VOLUME_BYTES) throw corrupt('the first field of a volume is in its own header');

  let place = firstAt;
  for (let i = 0; i < count; i++) {
    const next = await walkField(walk, at + place, path);
    if (next === 0) return;
    // Offsets must increase, so that a cycle of fields cannot loop for ever.
    if (next <= place) throw corrupt('the offsets of its fields go backwards');
    place = next;
  }
}

/** Returns the offset of the next field from the volume's first byte; 0 after the last. */
async function walkField(walk: Walk, at: number, path: readonly Step[]): Promise<number> {
  const { window } = walk;
  walk.fields++;
  if (walk.fields > limits.fields) throw limitExceeded(`it has more than ${limits.fields} fields`);
  const headerBytes = FIELD_BYTES + 4;
  if (at + FIELD_BYTES > window.size) throw incomplete('the file ends inside a field');
  const loadBytes = Math.min(headerBytes, window.size - at);
  if (!window.covers(at, loadBytes)) await window.load(at, loadBytes);
  const [kind, tag, next, size] = [
    window.u32(at),
    window.u32(at + 4),
    window.u32(at + 8),
    window.u32(at + 12),
  ];
  const hasIndex = (kind & flag.index) !== 0;
  if (hasIndex && loadBytes < headerBytes) throw incomplete('the file ends inside a field');
  const step: Step = { tag, index: hasIndex ? window.u32(at + FIELD_BYTES) : null };
  const bodyAt = at + FIELD_BYTES + (hasIndex ? 4 : 0);
  const type = kind & TYPE_MASK;
  if ((kind & flag.extended) !== 0) {
    if (VOLUME_TYPES.has(type)) await walkVolume(walk, bodyAt, [...path, step]);
  } else if (walk.tags.has(tag)) {
    const bytes =
      (kind & flag.inline) === 0 ? await readValue(window, bodyAt, size) : window.copy(at + 12, 4);
    if (bytes) walk.leaves.push({ path: [...path, step], type, bytes });
  }
  return next;
}

/** Returns null for a value above the size limit of requested values. */
async function readValue(window: ByteWindow, at: number, size: number): Promise<Uint8Array | null> {
  if (size > limits.valueBytes) return null;
  if (at + size > window.size) throw incomplete('the file ends inside a value');
  if (!window.covers(at, size)) await window.load(at, size);
  return window.copy(at, size);
}

function isVolume(headerBytes: number, magic: number): boolean {
  return headerBytes === VOLUME_BYTES && magic === VOLUME_MAGIC;
}
