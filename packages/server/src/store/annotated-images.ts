/** Queries for annotation layers (sets of annotations of a slide) that an account may read. */
import type { Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

/**
 * The account for which layers are listed. It sees its own layers, and the layers that are visible to all members
 * (accounts with access to the catalogue). Null stands for an administrator, who sees every layer.
 */
export type LayerReader = { readonly uid: string } | null;

export type LayerWithImage = Pick<
  Row<'images'>,
  'file_name' | 'removed_at' | 'missing_since' | 'status' | 'dataset_name' | 'hidden_at'
> &
  Pick<
    Row<'annotation_layers'>,
    'id' | 'image_id' | 'name' | 'owner_uid' | 'annotation_count' | 'updated_at'
  >;

/**
 * Lists layers that contain annotations, each with its slide, the most recently changed layer first. Omits deleted
 * layers.
 *
 * @param page `before` is the last layer of the previous page; null for the first page
 */
export function listNewestLayers(
  db: Connection,
  reader: LayerReader,
  { before, limit }: { readonly before: LayerWithImage | null; readonly limit: number },
): Promise<LayerWithImage[]> {
  return (
    db
      .selectFrom('annotation_layers')
      .innerJoin('images', 'images.id', 'annotation_layers.image_id')
      .select([
        'annotation_layers.id',
        'annotation_layers.image_id',
        'annotation_layers.name',
        'annotation_layers.owner_uid',
        'annotation_layers.annotation_count',
        'annotation_layers.updated_at',
        'images.file_name',
        'images.removed_at',
        'images.missing_since',
        'images.status',
        'images.dataset_name',
        'images.hidden_at',
      ])
      .where('annotation_layers.deleted_at', 'is', null)
      .where('annotation_layers.annotation_count', '>', 0)
      // The fallback values '' below are never used: TypeScript does not see that `$if` excludes null.
      .$if(reader !== null, (query) =>
        query.where((eb) =>
          eb.or([
            eb('annotation_layers.visibility', '=', 'members'),
            eb('annotation_layers.owner_uid', '=', reader?.uid ?? ''),
          ]),
        ),
      )
      .$if(before !== null, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('annotation_layers.updated_at', 'annotation_layers.id'),
            '<',
            tuple(before?.updated_at ?? '', before?.id ?? ''),
          ),
        ),
      )
      .orderBy('annotation_layers.updated_at', 'desc')
      .orderBy('annotation_layers.id', 'desc')
      .limit(limit)
      .execute()
  );
}

/** Counts, for each slide, the annotations that the reader may see; slides without any are missing from the result. */
export async function countAnnotationsOf(
  db: Connection,
  reader: LayerReader,
  imageIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (imageIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('annotation_layers')
    .select('image_id')
    .select((eb) => eb.fn.sum<number>('annotation_count').as('count'))
    .where(isOneOf(db, 'image_id', imageIds))
    .where('deleted_at', 'is', null)
    .where('annotation_count', '>', 0)
    .$if(reader !== null, (query) =>
      query.where((eb) => eb.or([eb('visibility', '=', 'members'), eb('owner_uid', '=', reader?.uid ?? '')])),
    )
    .groupBy('image_id')
    .execute();
  return new Map(rows.map(({ image_id, count }) => [image_id, Number(count)]));
}
