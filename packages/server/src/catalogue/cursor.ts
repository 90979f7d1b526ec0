/** Where a page of the catalogue ends. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/cursor.ts';

const Place = z.object({ sortKey: z.string().regex(/^[\da-f]+$/), id: z.uuid() });
type Place = z.infer<typeof Place>;

export function encodePlace({ sortKey, id }: Place): string {
  return encodeCursor(`${sortKey}.${id}`);
}

/** @throws AppError invalid_request for what is no cursor of ours */
export function decodePlace(cursor: string): Place {
  const read = (text: string) => {
    const [sortKey, id] = text.split('.');
    return { sortKey, id };
  };
  return decodeCursor(cursor, read, Place);
}
