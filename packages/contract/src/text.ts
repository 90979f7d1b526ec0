/**
 * The rules for texts and ids that callers send. The schemas of the endpoints are built from them, so the server
 * rejects a bad value before it reaches a database: PostgreSQL cannot store NUL, SQLite can, and neither should.
 *
 * Sources: Unicode Standard Annex 9 (bidirectional controls), Unicode Technical Standard 55 section 3
 * (source code and names that do not look like what they are), Unicode 16 `Default_Ignorable_Code_Point`.
 */
import { z } from 'zod';
import { reason } from './error-reasons.ts';

/** Controls, lone surrogates, line separators, bidirectional overrides and isolates, noncharacters. */
const unsafeCharacters =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\p{Noncharacter_Code_Point}]/u;
const unsafeCharactersButLineBreaks =
  /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\p{Noncharacter_Code_Point}]/u;

/**
 * Characters without a shape, such as ZERO WIDTH SPACE: with them two different names look the same. Variation selectors
 * choose a shape. ZERO WIDTH JOINER and NON-JOINER are needed inside words of some scripts and inside emoji, never next
 * to Latin, Greek or Cyrillic letters.
 */
const invisibleCharacters =
  /(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u180b-\u180d\u180f\u200c\u200d])\p{Default_Ignorable_Code_Point}|\u2800/u;
const joinerOutOfPlace =
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]\p{M}*[\u200c\u200d]|[\u200c\u200d][\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]/u;

/** Returns whether a name or another text of one line may be stored and shown unchanged. */
export function isSingleLine(text: string): boolean {
  return !unsafeCharacters.test(text) && !invisibleCharacters.test(text) && !joinerOutOfPlace.test(text);
}

function isMultiLine(text: string): boolean {
  return (
    !unsafeCharactersButLineBreaks.test(text) &&
    !invisibleCharacters.test(text) &&
    !joinerOutOfPlace.test(text)
  );
}

/**
 * Turns a text that another system wrote (an identity provider, a slide file) into one that `isSingleLine` accepts:
 * white space becomes a space, every other rejected character is dropped.
 */
export function toSingleLine(text: string): string {
  const global = (pattern: RegExp) => new RegExp(pattern.source, 'gu');
  let clean = text
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(global(unsafeCharacters), '')
    .replace(global(invisibleCharacters), '');
  if (joinerOutOfPlace.test(clean)) clean = clean.replace(/[\u200c\u200d]/g, '');
  return clean.normalize('NFC').trim();
}

/** The minimum rule for a cell of a catalogue file, which may name an existing slide with an unusual file name. */
export function isControlFree(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** A name or another text of one line, as a person types it: NFC, without space at its ends. */
export const SingleLine = z.string().refine(isSingleLine, reason('text_characters')).normalize('NFC').trim();

/** Free text of one or several lines: NFC, without space at its ends. */
export const MultiLine = z.string().refine(isMultiLine, reason('text_characters')).normalize('NFC').trim();

/**
 * The name of something that exists, or a part of it to search for: compared, never stored. Folders of slides may have names that
 * `SingleLine` would reject or normalise, and an administrator must be able to restrict those datasets, too.
 */
export const ExistingName = z
  .string()
  .refine((text) => !unsafeCharacters.test(text), reason('text_characters'));

const idPattern = /^[\w-]{1,128}$/;

/** The id of an account, an image, an upload, a session and so on: what the server generates is always of this form. */
export const Id = z.string().regex(idPattern);

/** A position in a list, encoded by the server. */
export const Cursor = z
  .string()
  .max(4000)
  .regex(/^[\w-]*$/);

const tileNamePattern = /^\d{1,10}_\d{1,10}\.[a-z]{1,8}$/;

/** Parameters of the IIIF Image API and DICOMweb: the answer to a malformed one is 400. */
const checkedLater: ReadonlySet<string> = new Set(['region', 'size', 'rotation', 'quality', 'frames']);

/** UIDs of DICOM (PS3.5 section 9.1). */
const uidParameters: ReadonlySet<string> = new Set(['study', 'series', 'instance']);
const uidPattern = /^[\d.]{1,64}$/;

/** Returns whether a path parameter is well-formed; if not, the response is 404 without a database query. */
export function isPathParameter(name: string, value: string): boolean {
  if (checkedLater.has(name)) return true;
  if (uidParameters.has(name)) return uidPattern.test(value);
  if (name === 'tile') return tileNamePattern.test(value);
  if (name === '*') return value.length <= 1000 && isSingleLine(value);
  if (name === 'datasetId') return value.length <= 255 && !unsafeCharacters.test(value);
  return idPattern.test(value);
}
