/** Where a page of the catalogue ends, as the caller carries it to the next one. */
import { AppError } from '@lamina/contract';
import { z } from 'zod';

const Place = z.object({ sortKey: z.string().regex(/^[\da-f]+$/), id: z.uuid() });
type Place = z.infer<typeof Place>;

export function encodeCursor(place: Place): string {
  return Buffer.from(`${place.sortKey}.${place.id}`).toString('base64url');
}

/** @throws AppError invalid_request for what is no cursor of ours */
export function decodeCursor(cursor: string): Place {
  const [sortKey, id] = Buffer.from(cursor, 'base64url').toString().split('.');
  const read = Place.safeParse({ sortKey, id });
  if (read.success) return read.data;
  throw new AppError('invalid_request', {
    message: {
      tr: 'cursor: Bu listenin devam işareti değil.',
      en: 'cursor: This is not a cursor of this list.',
    },
    field: 'cursor',
  });
}
