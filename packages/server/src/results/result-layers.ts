/**
 * Creates, lists and deletes result layers (rasters or objects that a program computed from a slide), and receives their files.
 * The scan for result files beside slides also creates layers, which have the source `folder` and no owner. The content of a layer
 * never changes; a new result needs a new layer. Every account that may view a slide sees its result layers. Only the account that
 * created a layer, or an administrator, may upload its file and delete the layer.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AppError,
  apiBase,
  type Bilingual,
  type BodyOf,
  type createResultLayer,
  type ResultLayer,
  type ResultSource,
  resultLimits,
  sendResultFile,
  type User,
} from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import { layerRightsOf } from '../domain/annotation-rights.ts';
import type { Translate } from '../domain/translate.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { displayNamesOf } from '../store/annotation-layers.ts';
import { type Connection, type Database, runLockedTransaction } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import { sumQuotaUse } from '../store/quota.ts';
import {
  deleteResultLayerRow,
  findResultLayer,
  insertResultLayer,
  listResultLayersOf,
  lockResultLayer,
  newResultColumns,
  type ResultLayerRow,
  removedResultProblem,
  removeFoundResultLayer,
  updateResultLayerInState,
} from '../store/result-layers.ts';
import { isProblem, problems } from './problems.ts';
import { queueImport } from './queue-import.ts';
import type { ResultFiles } from './result-files.ts';

/** `reader` and `caller`: the account of a request; `actor`: the sign-in of this account, with which a transaction reads it again. */
export interface ResultLayers {
  /** Lists the layers of a slide, oldest first. @throws AppError not_found */
  list(reader: User, imageId: string, translate: Translate): Promise<ResultLayer[]>;
  /**
   * Creates a layer, whose file is uploaded afterwards.
   *
   * @throws AppError not_found, invalid_request, forbidden, too_many_layers
   */
  create(
    actor: Actor,
    imageId: string,
    layer: BodyOf<typeof createResultLayer> & { readonly source: ResultSource },
    translate: Translate,
  ): Promise<ResultLayer>;
  /**
   * Deletes a layer and its file. If the scan found the file beside a slide, that original stays, but is not imported again.
   *
   * @throws AppError not_found, forbidden
   */
  remove(actor: Actor, layerId: string): Promise<void>;
  /**
   * Reserves space for the upload of a file of this size.
   *
   * @throws AppError not_found, forbidden, upload_ended, upload_too_large, quota_exceeded, storage_full
   */
  reserveSpace(caller: User, layerId: string, sizeBytes: number): Promise<void>;
  /** Returns a layer, its received bytes, and the file size that the client announced (null: unknown). @throws AppError not_found, forbidden */
  progress(
    caller: User,
    layerId: string,
    translate: Translate,
  ): Promise<{ readonly layer: ResultLayer; readonly received: number; readonly total: number | null }>;
  /**
   * Writes a part of the file. When the file is complete, its import is queued.
   *
   * @returns the number of bytes received so far
   * @throws AppError not_found, forbidden, conflict, invalid_request, upload_ended, storage_full
   */
  receive(caller: User, layerId: string, part: ReceivedPart): Promise<number>;
}

interface ReceivedPart {
  readonly offset: number; // position of the part in the file, in bytes
  readonly stream: Readable;
  /** Size of the whole file in bytes, if the client states it only with this part; null if `reserveSpace` has received it. */
  readonly total: number | null;
}

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // with it, `recheckCaller` reads the caller's account again
  readonly visibleImages: VisibleImages;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly files: ResultFiles;
}

const uuidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** Disk space that uploads leave free for other data, mainly the database. */
const minFreeBytes = 512 * 1024 ** 2;
/** An upload is updated only in these states of its layer, because another request may have ended the upload in the meantime. */
const whileUploading = ['uploading'] as const;
const deletedAccount: Bilingual = { tr: 'Silinmiş hesap', en: 'Deleted account' };

/** Describes a result layer to `layerRightsOf` as an annotation layer that all members may see and only its owner may change. */
const asAnnotationLayer = ({ owner_uid }: Pick<ResultLayerRow, 'owner_uid'>) =>
  ({ owner_uid, visibility: 'members', editing: 'owner', locked_by: null }) as const;

/** Returns the service. The function is long, because all operations share the dependencies and the checks. */
export function createResultLayers(dependencies: Dependencies): ResultLayers {
  const { config, db, audit, signIn, visibleImages, files } = dependencies;
  const now = () => dependencies.now().toISOString();

  /** Returns a slide that the account may view. @throws AppError not_found */
  async function requireImage(reader: User, imageId: string, connection: Connection = db): Promise<ImageRow> {
    const image = uuidPattern.test(imageId)
      ? (await visibleImages.of(reader, [imageId], connection)).get(imageId)
      : null;
    if (!image) throw new AppError('not_found');
    return image;
  }

  /** Checks that the account may change and delete a layer, and returns it. @throws AppError not_found, forbidden */
  async function requireManageable(caller: User, row: ResultLayerRow | null, connection?: Connection) {
    // A removed layer may still have a row, which keeps the next scan from importing its file again.
    if (row === null || row.problem === removedResultProblem) throw new AppError('not_found');
    await requireImage(caller, row.image_id, connection);
    if (!layerRightsOf(caller, asAnnotationLayer(row)).manage) throw new AppError('forbidden');
    return row;
  }

  const findLayer = async (layerId: string) =>
    uuidPattern.test(layerId) ? findResultLayer(db, layerId) : null;

  async function describe(
    reader: User,
    rows: readonly ResultLayerRow[],
    translate: Translate,
    connection: Connection = db,
  ): Promise<ResultLayer[]> {
    const names = await displayNamesOf(
      connection,
      rows.flatMap(({ owner_uid }) => owner_uid ?? []),
    );
    return rows.map((row) => toResultLayer(reader, row, names, translate));
  }

  async function describeOne(
    reader: User,
    row: ResultLayerRow,
    translate: Translate,
    connection?: Connection,
  ) {
    const [layer] = await describe(reader, [row], translate, connection);
    return layer as ResultLayer;
  }

  async function requireFreeSpace(bytes: number): Promise<void> {
    await fs.mkdir(files.parts.directory, { recursive: true }); // statfs fails for a missing folder
    const { bavail, bsize } = await fs.statfs(files.folder);
    if (bavail * bsize < bytes + minFreeBytes) throw new AppError('storage_full');
  }

  /** Reserves space for the file and begins its upload. @throws AppError upload_ended, upload_too_large, quota_exceeded, storage_full */
  async function reserveUpload(row: ResultLayerRow, sizeBytes: number): Promise<void> {
    if (row.state !== 'uploading') throw new AppError('upload_ended');
    if (row.upload_bytes === sizeBytes) return; // a repeated request: the space is reserved already
    if (sizeBytes > config.uploadMaxBytes) throw new AppError('upload_too_large');
    // Uploads of slides and results share one quota, so both acquire the lock 'uploads' before they compute the sums.
    await runLockedTransaction(db, 'uploads', async (tx) => {
      // The sum includes an earlier reservation for this layer, which the new one replaces.
      const used = (await sumQuotaUse(tx)).usedBytes - (row.upload_bytes ?? 0);
      if (config.uploadQuotaBytes > 0 && used + sizeBytes > config.uploadQuotaBytes) {
        throw new AppError('quota_exceeded');
      }
      await requireFreeSpace(sizeBytes);
      const changes = { upload_bytes: sizeBytes, updated_at: now() };
      await updateResultLayerInState(tx, row.id, changes, whileUploading);
    });
    await files.parts.discard(row.id);
    await files.parts.begin(row.id, sizeBytes);
    if (sizeBytes === 0) await queueImport(dependencies, row.id); // no part follows
  }

  return {
    async list(reader, imageId, translate) {
      await requireImage(reader, imageId);
      return describe(reader, await listResultLayersOf(db, imageId), translate);
    },

    create: (actor, imageId, { name, kind, registration, source }, translate) =>
      db.transaction().execute(async (tx) => {
        // Deletes nothing, but makes SQLite acquire its write lock before the transaction reads.
        await deleteResultLayerRow(tx, '');
        const user = await recheckCaller(tx, signIn, actor, 'annotations.write'); // also covers result layers
        await requireImage(user, imageId, tx);
        if (registration?.method === 'affine' && isSingular(registration.matrix)) {
          throw new AppError('invalid_request', { field: 'registration' });
        }
        const existing = await listResultLayersOf(tx, imageId);
        if (existing.length >= resultLimits.layersPerSlide) throw new AppError('too_many_layers');
        const createdAt = now();
        const row = await insertResultLayer(tx, {
          ...newResultColumns,
          id: randomUUID(),
          image_id: imageId,
          name,
          kind,
          owner_uid: actor.uid,
          source,
          registration: registration === undefined ? null : JSON.stringify(registration),
          state: 'uploading',
          created_at: createdAt,
          updated_at: createdAt,
        });
        await audit.record(tx, {
          action: 'result-layer-created',
          actor: actor.uid,
          target: imageId,
          detail: { layer: row.id, kind },
          origin: actor.origin,
        });
        return describeOne(user, row, translate, tx);
      }),

    async remove(actor, layerId) {
      await db.transaction().execute(async (tx) => {
        const lockedRow = uuidPattern.test(layerId) ? await lockResultLayer(tx, layerId) : null;
        const user = await recheckCaller(tx, signIn, actor, 'annotations.write');
        const row = await requireManageable(user, lockedRow, tx);
        if (row.source === 'folder')
          await removeFoundResultLayer(tx, layerId); // keeps the row, for the next scan
        else await deleteResultLayerRow(tx, layerId);
        await audit.record(tx, {
          action: 'result-layer-deleted',
          actor: actor.uid,
          target: row.image_id,
          detail: { layer: layerId, owner: row.owner_uid, kind: row.kind },
          origin: actor.origin,
        });
      });
      await files.remove(layerId);
    },

    async reserveSpace(caller, layerId, sizeBytes) {
      await reserveUpload(await requireManageable(caller, await findLayer(layerId)), sizeBytes);
    },

    async progress(caller, layerId, translate) {
      const row = await requireManageable(caller, await findLayer(layerId));
      const isUploading = row.state === 'uploading'; // afterwards, the server has received all bytes
      const received = isUploading ? ((await files.parts.received(layerId)) ?? 0) : (row.upload_bytes ?? 0);
      // The server may have stopped after the last part, before it queued the import. The client sends nothing more.
      if (isUploading && received === row.upload_bytes) await queueImport(dependencies, layerId);
      return { layer: await describeOne(caller, row, translate), received, total: row.upload_bytes };
    },

    async receive(caller, layerId, { offset, stream, total }) {
      const row = await requireManageable(caller, await findLayer(layerId));
      if (row.state !== 'uploading') throw new AppError('upload_ended');
      if (row.upload_bytes === null && total !== null) await reserveUpload(row, total);
      const size = row.upload_bytes ?? total;
      if (size === null) throw new AppError('invalid_request', { field: 'Upload-Length' });
      let receivedBefore = await files.parts.received(layerId);
      if (receivedBefore === null) {
        // The server stopped after it reserved the space, or a backup was restored without DATA_DIR/results.
        await files.parts.begin(layerId, size);
        receivedBefore = 0;
      }
      if (receivedBefore !== offset) throw new AppError('conflict');
      await requireFreeSpace(size - offset);
      await updateResultLayerInState(db, layerId, { updated_at: now() }, whileUploading); // postpones the upload's expiry
      const received = await files.parts.write(limitStream(stream, size - offset), layerId, offset);
      if (received === size) await queueImport(dependencies, layerId);
      return received;
    },
  };
}

/** Returns a stream that fails with AppError upload_too_large when it exceeds a number of bytes. */
function limitStream(stream: Readable, maxBytes: number): Readable {
  let remaining = maxBytes;
  return stream.map((part: Buffer) => {
    remaining -= part.length;
    if (remaining < 0) throw new AppError('upload_too_large');
    return part;
  });
}

/** Returns whether a transform a, b, c, d, e, f has no inverse. */
function isSingular([a, b, c, d]: readonly number[]): boolean {
  const determinant = (a ?? 0) * (d ?? 0) - (b ?? 0) * (c ?? 0);
  return Math.abs(determinant) < 1e-12; // about 0
}

/**
 * Converts the row of a layer to the `ResultLayer` of the API, with the rights of the reader.
 *
 * @param namesByOwner display names by account id; null for an account without a name; absent for a deleted account
 */
function toResultLayer(
  reader: User,
  row: ResultLayerRow,
  namesByOwner: ReadonlyMap<string, string | null>,
  translate: Translate,
): ResultLayer {
  const { manage } = layerRightsOf(reader, asAnnotationLayer(row));
  const displayName = row.owner_uid === null ? undefined : namesByOwner.get(row.owner_uid);
  const ownerName = displayName === undefined ? translate(deletedAccount) : displayName;
  const isFromScan = row.source === 'folder'; // such a layer never had an owner
  // The database may contain a problem that this version of the server does not know.
  const problem = row.problem !== null && isProblem(row.problem) ? row.problem : null;
  return {
    id: row.id,
    image_id: row.image_id,
    name: row.name,
    kind: row.kind,
    owner: row.owner_uid,
    owner_name: isFromScan ? null : ownerName,
    source: row.source,
    state: row.state,
    progress: row.percent / 100, // progress of the import, which follows the upload
    problem: problem === null ? null : { code: problem, message: translate(problems[problem]) },
    size_bytes: row.size_bytes,
    object_count: row.object_count,
    created_at: row.created_at,
    updated_at: row.updated_at,
    upload: manage && row.state === 'uploading' ? uploadUrlOf(row.id) : null,
    rights: { manage },
  };
}

/** Returns the URL, relative to the server, to which a client uploads the file of a layer. */
function uploadUrlOf(layerId: string): string {
  return apiBase + sendResultFile.path.replace(':layerId', layerId);
}
