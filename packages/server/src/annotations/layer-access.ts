/** Finds slides and annotation layers, and checks in the database that the account may use them. */
import { AppError, type User } from '@lamina/contract';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { type LayerRights, layerRightsOf } from '../domain/annotation-rights.ts';
import { seesEveryDataset } from '../domain/dataset-access.ts';
import { mayViewImage } from '../domain/image-session.ts';
import { findLayer, type LayerRow, lockLayer } from '../store/annotation-layers.ts';
import type { Connection, DatabaseTransaction } from '../store/database.ts';
import { findImage, type ImageRow } from '../store/images.ts';

/** The form of the ids of slides and layers. An id of another form does not exist, so it is not queried. */
export const uuidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Returns a slide that the account may view. @throws AppError not_found when it does not exist or may not be viewed */
export async function requireImage(db: Connection, reader: User, imageId: string): Promise<ImageRow> {
  const inaccessibleDatasets = await findInaccessibleDatasets(db, reader);
  const image = uuidPattern.test(imageId) ? await findImage(db, imageId) : null;
  if (image === null || !isViewable(image, reader, inaccessibleDatasets)) throw new AppError('not_found');
  return image;
}

/** Returns whether the account may view the image. @param inaccessibleDatasets datasets that the account may not see */
export function isViewable(
  image: Pick<ImageRow, 'removed_at' | 'missing_since' | 'status' | 'dataset_name' | 'hidden_at'>,
  reader: User,
  inaccessibleDatasets: ReadonlySet<string>,
): boolean {
  const seesHidden = seesEveryDataset(reader);
  // An image is `ready` when the header of its file has been read.
  const isListed =
    image.removed_at === null && image.missing_since === null && (image.status === 'ready' || seesHidden);
  const protectedImage = { dataset: image.dataset_name, isHidden: image.hidden_at !== null };
  return isListed && mayViewImage({ inaccessibleDatasets, seesHidden }, protectedImage);
}

/** A layer that the account may read, with its slide and the rights of the account. */
export interface ReadableLayer {
  readonly layer: LayerRow;
  readonly image: ImageRow;
  readonly rights: LayerRights;
}

/** Returns a layer. @throws AppError not_found for a layer that does not exist, is deleted, or that the account may not read */
export async function requireLayer(db: Connection, reader: User, layerId: string): Promise<ReadableLayer> {
  const readable = await findReadable(
    db,
    reader,
    uuidPattern.test(layerId) ? await findLayer(db, layerId) : null,
  );
  if (readable.layer.deleted_at !== null) throw new AppError('not_found');
  return readable;
}

/**
 * Locks the row of a layer until the transaction ends, and returns the layer (a deleted one only with `includesDeleted`). This lock
 * is not the lock by which users protect a layer (`locked_by`). Call it first in the transaction: after a read, SQLite could refuse
 * the write lock, because another process has written since the read.
 *
 * @param findReader called after the lock is taken; returns the account as the transaction sees it
 * @throws AppError not_found, and the errors that `findReader` throws
 */
export async function requireLayerForUpdate(
  tx: DatabaseTransaction,
  layerId: string,
  findReader: () => Promise<User>,
  { includesDeleted = false } = {},
): Promise<ReadableLayer & { readonly user: User }> {
  const layer = uuidPattern.test(layerId) ? await lockLayer(tx, layerId) : null;
  const user = await findReader();
  const readable = await findReadable(tx, user, layer);
  if (readable.layer.deleted_at !== null && !includesDeleted) throw new AppError('not_found');
  return { ...readable, user };
}

/** Returns a layer (also a deleted one) that the account may read. @throws AppError not_found for any other layer and for null */
async function findReadable(db: Connection, reader: User, layer: LayerRow | null): Promise<ReadableLayer> {
  if (layer === null) throw new AppError('not_found');
  const image = await requireImage(db, reader, layer.image_id);
  const rights = layerRightsOf(reader, layer);
  if (!rights.read) throw new AppError('not_found');
  return { layer, image, rights };
}
