/**
 * The character set of the free text in a DICOM data set, such as the labels of segments.
 *
 * Source: DICOM PS3.3, section C.12.1.1.2 (Specific Character Set).
 */
import { decodeUtf8OrLatin1 } from '../source/decode-text.ts';
import type { DataSet, DecodeText } from './data-set.ts';
import { tag } from './tags.ts';

/** Names of encodings (Encoding Standard, WHATWG) by the defined term of the character set. */
const encodings: Readonly<Record<string, string>> = {
  'ISO_IR 100': 'iso-8859-1',
  'ISO_IR 101': 'iso-8859-2',
  'ISO_IR 109': 'iso-8859-3',
  'ISO_IR 110': 'iso-8859-4',
  'ISO_IR 126': 'iso-8859-7',
  'ISO_IR 127': 'iso-8859-6',
  'ISO_IR 138': 'iso-8859-8',
  'ISO_IR 144': 'iso-8859-5',
  'ISO_IR 148': 'iso-8859-9', // Turkish
  'ISO_IR 166': 'windows-874',
  'ISO_IR 192': 'utf-8',
  'ISO_IR 203': 'iso-8859-15',
  GB18030: 'gb18030',
  GBK: 'gbk',
};

/**
 * Returns a function that decodes the free text of a data set, including that of its items. Only the first of several
 * character sets is used. If the character set is absent or unknown, text is decoded as UTF-8 if it is valid, else as Latin-1.
 *
 * @param dataSet the data set of the file, read with the element SpecificCharacterSet
 */
export function textDecodingOf(dataSet: DataSet): DecodeText {
  // `ISO 2022 IR 100` is `ISO_IR 100` with code extensions, which switch to other character sets and are not read.
  const term = dataSet.text(tag.SpecificCharacterSet)?.replace(/^ISO 2022 IR /, 'ISO_IR ') ?? '';
  const encoding = Object.hasOwn(encodings, term) ? encodings[term] : undefined;
  if (encoding === undefined) return decodeUtf8OrLatin1;
  return (bytes) => new TextDecoder(encoding).decode(bytes);
}
