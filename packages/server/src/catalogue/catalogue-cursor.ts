/**
 * Encodes and decodes the cursor of the list of images: the sort key and id of the last entry of a page. A sort key is
 * the hexadecimal string by which the database sorts the catalogue.
 */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';

const ImagePosition = z.object({ sortKey: z.string().regex(/^[\da-f]+$/), id: z.uuid() });
type ImagePosition = z.infer<typeof ImagePosition>;

export function encodeImageCursor({ sortKey, id }: ImagePosition): string {
  return encodeCursor(`${sortKey}.${id}`);
}

/** Reverses `encodeImageCursor`. @throws AppError invalid_request for a string that is not a cursor of this list */
export function decodeImageCursor(cursor: string): ImagePosition {
  const parse = (text: string) => {
    const [sortKey, id] = text.split('.');
    return { sortKey, id };
  };
  return decodeCursor(cursor, parse, ImagePosition);
}
