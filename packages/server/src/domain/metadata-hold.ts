/**
 * The reason why metadata files are not applied to a slide: they would show it to people who could not see it before.
 *
 * - `kept`: the files name another dataset, or none, in which more people could see the slide
 * - `waiting`: the slide is new and hidden because a metadata file that may concern it is invalid
 */
import { z } from 'zod';

const MetadataHold = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('kept'), dataset: z.string().nullable() }),
  z.object({ kind: z.literal('waiting') }),
]);
export type MetadataHold = z.infer<typeof MetadataHold>;

export function readHold(text: string | null): MetadataHold | null {
  return text === null ? null : MetadataHold.parse(JSON.parse(text));
}

export const writeHold = (hold: MetadataHold): string => JSON.stringify(hold);
