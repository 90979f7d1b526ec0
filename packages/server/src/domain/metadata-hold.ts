/**
 * A hold: the reason why the metadata files of the slide folder (catalogue.csv, dataset.json) are not applied to a slide. These
 * files would, or might, show the slide to people who may not see it now. The hold is stored as JSON with the image.
 *
 * - `kept`: the files would move the slide to `dataset` (null: to no dataset), where more people could see it, so it is not moved
 * - `waiting`: the slide is new, and stays hidden because a metadata file that may concern it is invalid
 */
import { z } from 'zod';

const MetadataHold = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('kept'), dataset: z.string().nullable() }),
  z.object({ kind: z.literal('waiting') }),
]);
export type MetadataHold = z.infer<typeof MetadataHold>;

/** Returns the hold from its stored JSON; null when there is none, so that the metadata files are applied. */
export function parseHold(text: string | null): MetadataHold | null {
  return text === null ? null : MetadataHold.parse(JSON.parse(text));
}

export const stringifyHold = (hold: MetadataHold): string => JSON.stringify(hold);
