/** Cursor of the list of images: the last entry of a page. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/signed-cursor.ts';

const Place = z.object({ sortKey: z.string().regex(/^[\da-f]+$/), id: z.uuid() });
type Place = z.infer<typeof Place>;

export function encodeImageCursor({ sortKey, id }: Place): string {
  return encodeCursor(`${sortKey}.${id}`);
}

/** @throws AppError invalid_request for a text that is not a cursor of this list */
export function decodeImageCursor(cursor: string): Place {
  const read = (text: string) => {
    const [sortKey, id] = text.split('.');
    return { sortKey, id };
  };
  return decodeCursor(cursor, read, Place);
}
