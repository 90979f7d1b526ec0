/** The XML in a TIFF tag. */
import { SlideError } from '../model/slide.ts';
import { readXml, type XmlElement, xmlLimits } from '../xml/read-xml.ts';
import type { TiffDirectory } from './directory.ts';
import { nameOfTag, type Tag } from './tags.ts';

/**
 * Reads the XML that scanners store in a tag.
 *
 * @param keep selects the elements to parse by the names on their path from the root; without it, all are parsed
 * @returns the root element; null when the directory does not have the tag
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readXmlTag(
  directory: TiffDirectory,
  xmlTag: Tag,
  keep?: (path: readonly string[]) => boolean,
): Promise<XmlElement | null> {
  const byteCount = directory.count(xmlTag);
  if (byteCount === 0) return null;
  if (byteCount > xmlLimits.characters) {
    throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(xmlTag)} has ${byteCount} bytes of XML`);
  }
  const text = await directory.text(xmlTag, byteCount);
  return text === null ? null : readXml(text, keep);
}
