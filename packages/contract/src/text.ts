/**
 * The rules for texts and ids that clients send. The schemas of the endpoints are built from them, so that the server rejects
 * an invalid value before it reaches the database. The databases themselves differ: SQLite stores a NUL character, PostgreSQL
 * rejects it.
 *
 * Sources: Unicode Standard Annex 9 (bidirectional controls), Unicode Technical Standard 55 section 3 (texts that look like other
 * texts), Unicode 16 `Default_Ignorable_Code_Point`.
 */
import { z } from 'zod';
import { reason } from './error-reasons.ts';

/**
 * Control characters, surrogates, line separators, bidirectional and interlinear annotation controls, noncharacters.
 */
const unsafeCharacters =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\p{Noncharacter_Code_Point}]/u;
/** Like `unsafeCharacters`, but allows tab, LF and CR: `[^\P{Cc}\t\n\r]` matches every other control character. */
const unsafeCharactersExceptLineBreaks =
  /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\p{Noncharacter_Code_Point}]/u;

/**
 * Invisible characters, such as ZERO WIDTH SPACE and U+2800 BRAILLE PATTERN BLANK, which can make two different names look
 * the same. Variation selectors are allowed, because they choose the shape of a character. ZERO WIDTH JOINER and
 * NON-JOINER are handled by `misplacedJoiner`.
 */
const invisibleCharacters =
  /(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u180b-\u180d\u180f\u200c\u200d])\p{Default_Ignorable_Code_Point}|\u2800/u;
/**
 * A ZERO WIDTH JOINER or NON-JOINER where no script needs one. Joiners are needed inside words of some scripts and inside emoji, but never
 * next to Latin, Greek or Cyrillic letters or numbers. Example of a match: the joiner in `ad\u200dmin`. Every alternative begins at a
 * joiner: one that began at a letter would take quadratic time for many combining marks, of which some count as Cyrillic.
 */
const misplacedJoiner =
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])|(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]\p{M}*)[\u200c\u200d]|[\u200c\u200d][\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]/u;
/**
 * More combining marks in a row than any script needs. The time of `normalize` grows with the square of their number, so longer runs would
 * stop the server. Source: Unicode Standard Annex 15, section 13 (Stream-Safe Text Format).
 */
const tooManyMarks = /\p{M}{31}/u;

/** Returns whether a name or another text of one line contains only allowed characters. */
export function isSingleLine(text: string): boolean {
  return !unsafeCharacters.test(text) && isVisible(text);
}

function isMultiLine(text: string): boolean {
  return !unsafeCharactersExceptLineBreaks.test(text) && isVisible(text);
}

function isVisible(text: string): boolean {
  return !invisibleCharacters.test(text) && !misplacedJoiner.test(text) && !tooManyMarks.test(text);
}

/**
 * Converts a text that another system has written (an identity provider, a slide file) to one that `isSingleLine` accepts. White
 * space becomes a single space, and other rejected characters are removed.
 */
export function toSingleLine(text: string): string {
  const everyMatchOf = (pattern: RegExp) => new RegExp(pattern.source, 'gu');
  let cleaned = text
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(everyMatchOf(unsafeCharacters), '')
    .replace(everyMatchOf(invisibleCharacters), '')
    .replace(/(\p{M}{30})\p{M}+/gu, '$1');
  if (misplacedJoiner.test(cleaned)) cleaned = cleaned.replace(/[\u200c\u200d]/g, '');
  return cleaned.normalize('NFC').trim();
}

/** Returns whether the text has neither control characters nor lone surrogates. Accepts other characters that `isSingleLine` rejects. */
export function isControlFree(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** `abort`: a text that is rejected is not normalised, which could take minutes (see `tooManyMarks`). */
const charactersError = { error: reason('text_characters'), abort: true };

/** A name or another text of one line. It is normalised to NFC, and white space at its ends is removed. */
export const SingleLine = z.string().refine(isSingleLine, charactersError).normalize('NFC').trim();

/** A text of one or several lines. It is normalised to NFC, and white space at its ends is removed. */
export const MultiLine = z.string().refine(isMultiLine, charactersError).normalize('NFC').trim();

/**
 * The name of an existing dataset or file, which the server compares with names but never stores. It may contain characters that
 * `SingleLine` rejects or changes, because folders of slides may have such names.
 */
export const ComparedName = z
  .string()
  .refine((text) => !unsafeCharacters.test(text), reason('text_characters'));
/** Words to search for in names. */
export const SearchText = ComparedName.max(200);

const idPattern = /^[\w-]{1,128}$/;

/** The id of an account, an image, an upload or a session. All ids that the server generates have this form. */
export const Id = z.string().regex(idPattern);

/** A position in a paginated list, encoded by the server. */
export const Cursor = z
  .string()
  .max(4000)
  .regex(/^[\w-]*$/);

/** A tile name such as `0_12.jpeg`. */
const tileNamePattern = /^\d{1,10}_\d{1,10}\.[a-z]{1,8}$/;

/** Parameters of the IIIF Image API and DICOMweb. The handlers check them, because the response to an invalid one is 400, not 404. */
const parametersCheckedByHandlers: ReadonlySet<string> = new Set([
  'region',
  'size',
  'rotation',
  'quality',
  'frames',
]);

/** Parameters that are DICOM UIDs such as `1.2.840.10008` (PS3.5 section 9.1). */
const uidParameters: ReadonlySet<string> = new Set(['study', 'series', 'instance']);
const uidPattern = /^[\d.]{1,64}$/;

/** Returns whether a path parameter is well-formed. If not, the server responds with 404 without a database query. */
export function isPathParameter(name: string, value: string): boolean {
  if (parametersCheckedByHandlers.has(name)) return true;
  if (uidParameters.has(name)) return uidPattern.test(value);
  if (name === 'tile') return tileNamePattern.test(value);
  // The rest of a path: the path of a file below the folder of a slide.
  if (name === '*') return value.length <= 1000 && isSingleLine(value);
  // The id of a dataset is its name, in upper or lower case and in any Unicode form.
  if (name === 'datasetId') return value.length <= 255 && !unsafeCharacters.test(value);
  return idPattern.test(value);
}
