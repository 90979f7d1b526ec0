/** The colour profile of an open slide and its colour table, which are read and computed once for each slide. */
import { gzipSync } from 'node:zlib';
import { type Slide, SlideError } from '../model/slide.ts';
import { type ColourTable, computeColourTable } from './colour-table.ts';
import { nameOfProfile } from './icc-profile.ts';
import { ProfileError, type ProfileFault } from './profile-bytes.ts';

/** What the server reports about the colour profile of a slide. */
export interface ColourProfile {
  /** The description in the profile; null when the profile has none or cannot be read. */
  readonly name: string | null;
  /** Size of the profile in the file; null when it exceeds the limit or cannot be read. */
  readonly bytes: number | null;
  /** Nodes on each side of the colour table; null when the profile is ignored. */
  readonly tableNodes: number | null;
  /** Why the profile is ignored; null when there is a table. */
  readonly ignored: ProfileFault | null;
}

/** The colour profile and table of a slide in the form that render workers send to the server. */
export interface SlideColour {
  /** Null when the file has no profile. */
  readonly profile: ColourProfile | null;
  /** The samples of the table (`ColourTable.rgb`), compressed with gzip; null if there is no usable profile. */
  readonly table: Uint8Array | null;
}

interface ProfileAndTable {
  readonly profile: ColourProfile | null;
  readonly table: ColourTable | null;
}

const cache = new WeakMap<Slide, Promise<ProfileAndTable>>();

/**
 * Returns the colour profile of a slide and its compressed table. A broken profile is not an error.
 *
 * @throws SlideError when the file cannot be read, for example because the storage does not respond
 */
export async function readSlideColour(slide: Slide): Promise<SlideColour> {
  const { profile, table } = await profileAndTableOf(slide);
  return { profile, table: table && gzipSync(table.rgb) };
}

/**
 * Returns the colour table of a slide; null when it has no usable profile.
 *
 * @throws the errors of `readSlideColour`
 */
export async function colourTableOf(slide: Slide): Promise<ColourTable | null> {
  return (await profileAndTableOf(slide)).table;
}

/** Returns the profile and table of a slide from the cache, or reads them. A failed read is not cached. */
function profileAndTableOf(slide: Slide): Promise<ProfileAndTable> {
  const cached = cache.get(slide);
  if (cached) return cached;
  const reading = readProfileAndTable(slide);
  cache.set(slide, reading);
  reading.catch(() => cache.delete(slide));
  return reading;
}

/** Read errors that make the profile unusable, with the reason. All other errors are thrown to the caller. */
const IGNORED_ERRORS: Readonly<Partial<Record<SlideError['code'], ProfileFault>>> = {
  LIMIT_EXCEEDED: 'huge',
  FILE_CORRUPT: 'broken',
  FILE_TRUNCATED: 'broken',
  FORMAT_NOT_SUPPORTED: 'broken',
};

/** Reads the profile from the file and computes its table. @throws the errors of `readSlideColour` */
async function readProfileAndTable(slide: Slide): Promise<ProfileAndTable> {
  let bytes: Uint8Array | null;
  try {
    bytes = await slide.readIccProfile();
  } catch (error) {
    const ignored = error instanceof SlideError ? IGNORED_ERRORS[error.code] : undefined;
    if (ignored === undefined) throw error;
    return { profile: { name: null, bytes: null, tableNodes: null, ignored }, table: null };
  }
  if (bytes === null) return { profile: null, table: null };
  const nameAndSize = { name: nameOfProfile(bytes), bytes: bytes.length };
  try {
    const table = computeColourTable(bytes);
    return { profile: { ...nameAndSize, tableNodes: table.nodes, ignored: null }, table };
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    return { profile: { ...nameAndSize, tableNodes: null, ignored: error.reason }, table: null };
  }
}
