/** Reads the colour profile of an open slide and computes its colour table, once for each slide. */
import { gzipSync } from 'node:zlib';
import { type Slide, SlideError } from '../model/slide.ts';
import { type ColourTable, computeColourTable } from './colour-table.ts';
import { nameOfProfile } from './icc-profile.ts';
import { type IgnoredProfile, ProfileError } from './profile-bytes.ts';

/** Describes the colour profile of a slide. */
export interface ColourProfile {
  /** The description in the profile; null when it has none or it cannot be read. */
  readonly name: string | null;
  /** Size of the profile in the file; null when it exceeds the limit. */
  readonly bytes: number | null;
  /** Nodes on each side of the colour table; null when the profile is ignored. */
  readonly tableNodes: number | null;
  /** Why the profile is ignored; null when there is a table. */
  readonly ignored: IgnoredProfile | null;
}

export interface SlideColour {
  /** Null when the file has no profile. */
  readonly profile: ColourProfile | null;
  /** The samples of the table (`ColourTable.rgb`), compressed with gzip; null without a usable profile. */
  readonly table: Uint8Array | null;
}

interface ReadColour {
  readonly profile: ColourProfile | null;
  readonly table: ColourTable | null;
}

const colours = new WeakMap<Slide, Promise<ReadColour>>();

/** Returns the colours of a slide. @throws SlideError when the storage does not respond; a broken profile is not an error */
export async function readSlideColour(slide: Slide): Promise<SlideColour> {
  const { profile, table } = await colourOf(slide);
  return { profile, table: table && gzipSync(table.rgb) };
}

/**
 * Returns the colour table of a slide; null when it has no usable profile.
 *
 * @throws SlideError when the storage does not respond
 */
export async function colourTableOf(slide: Slide): Promise<ColourTable | null> {
  return (await colourOf(slide)).table;
}

function colourOf(slide: Slide): Promise<ReadColour> {
  const cached = colours.get(slide);
  if (cached) return cached;
  const reading = readColour(slide);
  colours.set(slide, reading);
  reading.catch(() => colours.delete(slide));
  return reading;
}

/** Read errors that mean that the profile is unusable, and why. All other errors are passed to the caller. */
const IGNORED_ERRORS: Readonly<Partial<Record<SlideError['code'], IgnoredProfile>>> = {
  LIMIT_EXCEEDED: 'huge',
  FILE_CORRUPT: 'broken',
  FILE_TRUNCATED: 'broken',
  FORMAT_NOT_SUPPORTED: 'broken',
};

async function readColour(slide: Slide): Promise<ReadColour> {
  let bytes: Uint8Array | null;
  try {
    bytes = await slide.readIccProfile();
  } catch (error) {
    const ignored = error instanceof SlideError ? IGNORED_ERRORS[error.code] : undefined;
    if (ignored === undefined) throw error;
    return { profile: { name: null, bytes: null, tableNodes: null, ignored }, table: null };
  }
  if (bytes === null) return { profile: null, table: null };
  const described = { name: nameOfProfile(bytes), bytes: bytes.length };
  try {
    const table = computeColourTable(bytes);
    return { profile: { ...described, tableNodes: table.nodes, ignored: null }, table };
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    return { profile: { ...described, tableNodes: null, ignored: error.reason }, table: null };
  }
}
