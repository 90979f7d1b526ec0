/** Encodes and decodes the cursor of the list of images, which contains the place of a page's last entry. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';

const ImagePosition = z.object({ sortKey: z.string().regex(/^[\da-f]+$/), id: z.uuid() });
type ImagePosition = z.infer<typeof ImagePosition>;

export function encodeImageCursor({ sortKey, id }: ImagePosition): string {
  return encodeCursor(`${sortKey}.${id}`);
}

/** @throws AppError invalid_request for a text that is not a cursor of this list */
export function decodeImageCursor(cursor: string): ImagePosition {
  const read = (text: string) => {
    const [sortKey, id] = text.split('.');
    return { sortKey, id };
  };
  return decodeCursor(cursor, read, ImagePosition);
}
