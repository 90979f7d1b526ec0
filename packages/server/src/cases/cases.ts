/**
 * The service behind routes/cases.ts. It lists and changes cases: the slides of one specimen, in order. Administrators create cases.
 * Other accounts see a case if they may see its dataset and at least one of its slides, and see only the slides that they may view.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type BodyOf,
  type Case,
  type createCase as createEndpoint,
  type ResponseOf,
  type registerCaseSlides as registerEndpoint,
  type User,
  type updateCase as updateEndpoint,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import { seesAll } from '../catalogue/reader-filter.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { type PointPair, registrationOf, residualOf } from '../domain/registration.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import {
  deleteStoredCase,
  findCases,
  listStoredCases,
  type StoredCase,
  saveCase,
  saveRegistration,
} from '../store/cases.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import {
  acquireLock,
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { datasetExists } from '../store/datasets.ts';

type NewCase = BodyOf<typeof createEndpoint>;
type CaseChanges = BodyOf<typeof updateEndpoint>;

/** Methods that only read get the account (`reader`). The others get the `actor` and check the sign-in again in their transaction. */
export interface Cases {
  /** Returns the cases that the reader may see. @param dataset name in any spelling; undefined: all datasets */
  list(reader: User, dataset?: string): Promise<Case[]>;
  /** Returns a case. @throws AppError not_found, also for a case that the reader may not see */
  get(reader: User, id: string): Promise<Case>;
  /** Returns, by id, the cases that the reader may see. @param connection transaction in which to read, if any */
  visible(reader: User, ids: readonly string[], connection?: Connection): Promise<ReadonlyMap<string, Case>>;
  /** @throws AppError not_found for an unknown dataset or slide */
  create(actor: Actor, newCase: NewCase): Promise<Case>;
  /** @throws AppError not_found; conflict when `changes.version` is not the current version of the case */
  update(actor: Actor, id: string, changes: CaseChanges): Promise<Case>;
  /** @throws AppError not_found */
  delete(actor: Actor, id: string): Promise<void>;
  /**
   * Computes and saves the registration of two slides of a case: the transform that maps points of `from_image` to `to_image`. Returns
   * it with its residual error in µm, which is null if the pixel size of `to_image` is unknown.
   *
   * @throws AppError not_found, forbidden, rate_limited; invalid_request when the points determine no transform, or the slides are the same
   */
  register(
    actor: Actor,
    id: string,
    slidesAndPoints: BodyOf<typeof registerEndpoint>,
  ): Promise<ResponseOf<typeof registerEndpoint>>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  readonly actionLimiter: ActionLimiter;
  readonly datasets: Pick<Datasets, 'inaccessibleTo'>;
  readonly visibleImages: VisibleImages;
}

export function createCases(dependencies: Dependencies): Cases {
  const { db, now, audit, signIn, actionLimiter, datasets, visibleImages } = dependencies;

  /**
   * Returns those of the `stored` cases that the reader may see, in the order of `stored`. Each case has only the slides that the
   * reader may view. Administrators also see cases without slides.
   */
  async function asSeenBy(
    reader: User,
    stored: readonly StoredCase[],
    connection: Connection,
  ): Promise<Case[]> {
    if (stored.length === 0) return [];
    const inaccessible = await datasets.inaccessibleTo(reader, connection);
    const inReadableDatasets = stored.filter(({ dataset }) => !inaccessible.has(dataset));
    const images = await visibleImages.of(
      reader,
      inReadableDatasets.flatMap(({ slides }) => slides.map(({ image_id }) => image_id)),
      connection,
    );
    return inReadableDatasets
      .map((storedCase) => ({
        ...storedCase,
        slides: storedCase.slides.filter(({ image_id }) => images.has(image_id)),
        registrations: storedCase.registrations.filter(
          ({ from_image, to_image }) => images.has(from_image) && images.has(to_image),
        ),
      }))
      .filter(({ slides }) => slides.length > 0 || seesAll(reader));
  }

  async function visible(reader: User, ids: readonly string[], connection: Connection = db) {
    const visibleCases = await asSeenBy(reader, await findCases(connection, [...new Set(ids)]), connection);
    return new Map(visibleCases.map((visibleCase) => [visibleCase.id, visibleCase]));
  }

  async function get(reader: User, id: string, connection: Connection = db): Promise<Case> {
    const found = (await visible(reader, [id], connection)).get(id);
    if (found === undefined) throw new AppError('not_found');
    return found;
  }

  /**
   * Runs a change in a transaction, after checking again that the actor is still an administrator, and records the audit event of the
   * changed case (`target`).
   *
   * @returns the result of `work`
   */
  function changeAsAdministrator<T extends Case | null>(
    actor: Actor,
    action: AuditAction,
    work: (
      tx: DatabaseTransaction,
      user: User,
    ) => Promise<{ readonly target: StoredCase; readonly result: T }>,
  ): Promise<T> {
    return runLockedTransaction(db, 'accounts', async (tx) => {
      const user = await recheckCaller(tx, signIn, actor, 'catalogue.write');
      await acquireLock(tx, 'catalogue'); // guards the cases, too, because catalogue lists can be grouped by them
      const { target, result } = await work(tx, user);
      await record(tx, actor, action, target);
      return result;
    });
  }

  /** Records the audit event of a changed case. */
  function record(
    tx: DatabaseTransaction,
    { uid, origin }: Actor,
    action: AuditAction,
    { id, name, dataset, slides }: Pick<StoredCase, 'id' | 'name' | 'dataset' | 'slides'>,
  ): Promise<void> {
    const detail = { name, dataset, slides: slides.length };
    return audit.record(tx, { action, actor: uid, target: id, detail, origin });
  }

  /** Returns the stored spelling of a dataset's name. @throws AppError not_found */
  async function datasetNamed(tx: DatabaseTransaction, requestedName: string): Promise<string> {
    const name = await spellingOf(tx, 'dataset', requestedName);
    if (!(await datasetExists(tx, name))) throw new AppError('not_found');
    return name;
  }

  /**
   * Returns the slides of a case in stored form; empty strings become null.
   *
   * @throws AppError not_found for a slide that the administrator does not see
   */
  async function slidesOf(
    tx: DatabaseTransaction,
    user: User,
    newSlides: NewCase['slides'],
  ): Promise<StoredCase['slides']> {
    const ids = newSlides.map(({ image_id }) => image_id);
    const images = await visibleImages.of(user, ids, tx);
    if (images.size < ids.length) throw new AppError('not_found');
    return newSlides.map(({ image_id, stain, block, note }) => ({
      image_id,
      stain: stain || null,
      block: block || null,
      note: note || null,
    }));
  }

  /**
   * Returns the slides of a changed case: the new ones, and the stored ones that the administrator does not see, for example because
   * their files are missing. Slides that the administrator does not see keep their positions if possible.
   *
   * @throws AppError not_found for a new slide that the administrator does not see
   */
  async function changedSlidesOf(
    tx: DatabaseTransaction,
    user: User,
    storedSlides: StoredCase['slides'],
    newSlides: NewCase['slides'],
  ): Promise<StoredCase['slides']> {
    const slides = await slidesOf(tx, user, newSlides);
    const storedIds = storedSlides.map(({ image_id }) => image_id);
    const seenImages = await visibleImages.of(user, storedIds, tx);
    for (const [position, slide] of storedSlides.entries()) {
      if (!seenImages.has(slide.image_id)) slides.splice(position, 0, slide); // at the end if there are fewer slides now
    }
    return slides;
  }

  /** Returns the stored case. @throws AppError not_found */
  async function findCase(tx: DatabaseTransaction, id: string): Promise<StoredCase> {
    const [stored] = await findCases(tx, [id]);
    if (stored === undefined) throw new AppError('not_found');
    return stored;
  }

  return {
    async list(reader, dataset) {
      const name = dataset === undefined ? undefined : await spellingOf(db, 'dataset', dataset);
      const inaccessible = await datasets.inaccessibleTo(reader, db);
      return asSeenBy(reader, await listStoredCases(db, name, inaccessible), db);
    },

    get,
    visible,

    async create(actor, { dataset, name, description = null, slides }) {
      return changeAsAdministrator(actor, 'case-created', async (tx, user) => {
        const at = now().toISOString();
        const created: StoredCase = {
          id: randomUUID(),
          dataset: await datasetNamed(tx, dataset),
          name,
          description: description || null,
          version: 1,
          slides: await slidesOf(tx, user, slides),
          registrations: [],
          created_at: at,
          updated_at: at,
        };
        await saveCase(tx, created);
        return { target: created, result: created };
      });
    },

    async update(actor, id, changes) {
      return changeAsAdministrator(actor, 'case-changed', async (tx, user) => {
        const before = await findCase(tx, id);
        if (changes.version !== undefined && changes.version !== before.version) {
          throw new AppError('conflict');
        }
        const { dataset, name, description, slides } = changes;
        await saveCase(tx, {
          ...before,
          ...(dataset !== undefined && { dataset: await datasetNamed(tx, dataset) }),
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description: description || null }),
          ...(slides !== undefined && { slides: await changedSlidesOf(tx, user, before.slides, slides) }),
          version: before.version + 1,
          updated_at: now().toISOString(),
        });
        return { target: await findCase(tx, id), result: await get(user, id, tx) };
      });
    },

    async delete(actor, id) {
      await changeAsAdministrator(actor, 'case-deleted', async (tx) => {
        const target = await findCase(tx, id);
        await deleteStoredCase(tx, id);
        return { target, result: null };
      });
    },

    async register(actor, id, { from_image, to_image, points }) {
      return runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'sharing.own'); // also permits registering slides
        await actionLimiter.requireAllowed(tx, 'case-registered', actor); // throws rate_limited
        await acquireLock(tx, 'catalogue'); // a scan may change the slides of the case, and saveCase() writes the whole case
        const visibleCase = await get(user, id, tx);
        const hasSlide = (imageId: string) => visibleCase.slides.some(({ image_id }) => image_id === imageId);
        if (!hasSlide(from_image) || !hasSlide(to_image)) throw new AppError('not_found');
        if (from_image === to_image) {
          throw new AppError('invalid_request', { reason: 'registration_same_slide', field: 'to_image' });
        }
        const pixelSize = pixelSizeOf((await visibleImages.of(user, [to_image], tx)).get(to_image));
        const { matrix, residual_um } = registrationFrom(points, pixelSize);
        const at = now().toISOString();
        await saveRegistration(tx, {
          case_id: id,
          from_image,
          to_image,
          points: JSON.stringify(points),
          matrix: JSON.stringify(matrix),
          residual_um,
          updated_at: at,
        });
        // Raises the version. The case is read again, because `visibleCase` lacks the slides that the caller may not view.
        await saveCase(tx, {
          ...(await findCase(tx, id)),
          version: visibleCase.version + 1,
          updated_at: at,
        });
        await record(tx, actor, 'case-registered', visibleCase);
        return { matrix, residual_um };
      });
    },
  };
}

/** Width and height of a pixel in micrometres. */
interface PixelSize {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns the transform that the points determine, and its residual error in µm, which is null if the pixel size is unknown.
 *
 * @throws AppError invalid_request if the points determine no transform, or one whose residual error is not finite
 */
function registrationFrom(
  points: readonly PointPair[],
  pixelSize: PixelSize | null,
): ResponseOf<typeof registerEndpoint> {
  const matrix = registrationOf(points);
  const residual_um = matrix && pixelSize && residualOf(matrix, points, pixelSize);
  if (matrix === null || !Number.isFinite(residual_um ?? 0)) {
    throw new AppError('invalid_request', { reason: 'registration_points', field: 'points' });
  }
  return { matrix, residual_um };
}

/** Returns the size of a pixel; null when it is not known. */
function pixelSizeOf(
  image: { readonly mpp_x: number | null; readonly mpp_y: number | null } | undefined,
): PixelSize | null {
  if (!image?.mpp_x) return null; // no pixel size (null or 0), or no image that the caller may view
  return { x: image.mpp_x, y: image.mpp_y ?? image.mpp_x };
}
