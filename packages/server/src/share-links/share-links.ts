/**
 * Share links: accounts create them for slides that they may view, and visitors without an account open them (routes/share-links.ts).
 * A visitor gets an image session, the credential with which a viewer loads pixels.
 *
 * A link never opens more than its creator may view at that moment: each opening of the link, and each renewal of a visitor's
 * session in the cache, reads the link, its creator, the slides and their datasets from the database. When the creator loses the right to
 * share, the link ends and does not become valid again.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type BodyOf,
  type createShareLink as createEndpoint,
  may,
  type openShareLink as openEndpoint,
  type ResponseOf,
  type ShareLink,
  shareLinkDefaultDays,
  type User,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import type { Cases } from '../cases/cases.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import type { Collections } from '../collections/collections.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { effectiveAccount } from '../domain/account.ts';
import { hasOpeningLeft, isShareLinkValid } from '../domain/share-link.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import type { Throttle } from '../sign-in/throttle.ts';
import {
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { listDatasetRows } from '../store/datasets.ts';
import type { ImageRow } from '../store/images.ts';
import { findSavedViews } from '../store/saved-views.ts';
import {
  countOpening,
  endShareLinks,
  findShareLink,
  findShareLinkBySecret,
  insertShareLink,
  listShareLinkRows,
  openedImageIds,
  type ShareLinkRow,
  type ShareTarget,
  shareableImagesByLink,
} from '../store/share-links.ts';
import { findUser } from '../store/users.ts';
import { sharedItems } from './shared-items.ts';

type NewLink = BodyOf<typeof createEndpoint>;

export interface ShareLinks {
  /** Lists the links that the user has created, for an administrator the links of all accounts, newest first. */
  list(user: User): Promise<ShareLink[]>;
  /** Creates a link. @throws AppError not_found, sharing_off, invalid_request, rate_limited, unavailable */
  create(actor: Actor, newLink: NewLink): Promise<ResponseOf<typeof createEndpoint>>;
  /** Ends a link of the actor; an administrator may end any link. Does nothing if it has already ended. @throws AppError not_found */
  end(actor: Actor, id: string): Promise<void>;
  /**
   * Opens a link for a visitor: counts the opening and creates an image session, or extends the presented session of the same link
   * without counting an opening.
   *
   * @param credentials `secret` is the part of the link's URL after `#`; `session_id` is ignored unless the session can be renewed
   * @throws AppError not_found for a link that is unknown, has ended, or has no openings or no visible slides left; password_required,
   * password_invalid, rate_limited, unavailable
   */
  open(credentials: BodyOf<typeof openEndpoint>, origin: Origin): Promise<ResponseOf<typeof openEndpoint>>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly publicUrl: () => string;
  readonly audit: AuditRecorder;
  readonly actionLimiter: ActionLimiter;
  readonly signIn: Pick<SignInService, 'holderOf' | 'hashPassword' | 'matchesPasswordHash'>;
  readonly throttle: Pick<Throttle, 'requireShareLink' | 'countFailedShareLink' | 'countShareLinkOpening'>;
  readonly imageSessions: Pick<
    ImageSessions,
    'createForVisitor' | 'isRenewable' | 'renewForVisitor' | 'evictEnded'
  >;
  readonly datasets: Pick<Datasets, 'inaccessibleTo'>;
  readonly visibleImages: VisibleImages;
  readonly cases: Pick<Cases, 'visible'>;
  readonly collections: Pick<Collections, 'get' | 'findOwn'>;
}

/** A valid link with the ids of the slides that it opens. */
interface OpenedLink {
  readonly link: ShareLinkRow;
  readonly imageIds: ReadonlySet<string>;
}

const dayMs = 24 * 60 * 60_000;
/** A link may last one year plus this tolerance, because the clock of a client may be ahead of the server's clock. */
const clockToleranceMs = 5 * 60_000;

/** The function is long because all operations share the dependencies and the functions that determine the slides of a link. */
export function createShareLinks(dependencies: Dependencies): ShareLinks {
  const { db, now, publicUrl, audit, actionLimiter, signIn, throttle, imageSessions } = dependencies;
  const { datasets, visibleImages, cases, collections } = dependencies;

  /** Returns the slides of a target that the user may view. @throws AppError not_found when there are none */
  async function imagesOf(user: User, target: ShareTarget, tx: DatabaseTransaction): Promise<ImageRow[]> {
    const imageIds = await imageIdsOf(user, target, tx);
    const images = await visibleImages.of(user, imageIds, tx);
    if (images.size === 0) throw new AppError('not_found');
    return [...images.values()];
  }

  /**
   * Returns the ids of the slides of a target, including slides that the user may not view; none for a case that the user may not see
   * and for a saved view of another account.
   *
   * @throws AppError not_found for a collection that the user does not own
   */
  async function imageIdsOf(
    user: User,
    { type, id }: ShareTarget,
    tx: DatabaseTransaction,
  ): Promise<readonly string[]> {
    if (type === 'slide') return [id];
    if (type === 'case') {
      const found = (await cases.visible(user, [id], tx)).get(id);
      return found?.slides.map(({ image_id }) => image_id) ?? [];
    }
    if (type === 'view') {
      const [view] = await findSavedViews(tx, [id]);
      return view?.uid === user.uid ? [view.image_id] : [];
    }
    await collections.findOwn(user.uid, id, tx); // throws not_found for an unknown collection and for one of another account
    return (await collections.get(user, id, tx)).items.flatMap(({ images }) => images);
  }

  /** Requires that all slides belong to datasets that may be shared. @throws AppError sharing_off */
  async function requireSharing(tx: DatabaseTransaction, images: readonly ImageRow[]): Promise<void> {
    const sharedDatasets = new Set(
      (await listDatasetRows(tx)).filter(({ is_shared }) => is_shared === 1).map(({ name }) => name),
    );
    const mayShareAll = images.every(
      ({ dataset_name }) => dataset_name !== null && sharedDatasets.has(dataset_name),
    );
    if (!mayShareAll) throw new AppError('sharing_off');
  }

  /**
   * Returns the end of a new link (ISO 8601): the requested one, or the default.
   *
   * @throws AppError invalid_request when the requested end is in the past or more than a year away
   */
  function expiryOf(requestedEnd: string | undefined, createdAt: Date): string {
    if (requestedEnd === undefined) {
      return new Date(createdAt.getTime() + shareLinkDefaultDays * dayMs).toISOString();
    }
    const expiresAt = new Date(requestedEnd);
    if (expiresAt <= createdAt)
      throw new AppError('invalid_request', { reason: 'share_end_past', field: 'expires_at' });
    const latest = new Date(createdAt.getTime() + clockToleranceMs);
    latest.setUTCFullYear(latest.getUTCFullYear() + 1);
    if (expiresAt > latest) {
      throw new AppError('invalid_request', { reason: 'share_end_late', field: 'expires_at' });
    }
    return expiresAt.toISOString();
  }

  /** Finds a link and the ids of the slides that it opens now; null if the link is unknown, has ended, or has no slide left. */
  async function findValidLink(connection: Connection, secretHash: string): Promise<OpenedLink | null> {
    const link = await findShareLinkBySecret(connection, secretHash);
    if (link === null) return null;
    const creator = await findUser(connection, link.uid);
    if (creator === null || !isShareLinkValid(link, creator, now())) return null;
    // The effective account of a creator whose end date has passed is suspended.
    const inaccessible = await datasets.inaccessibleTo(effectiveAccount(creator, now()), connection);
    const linkedImages = (await shareableImagesByLink(connection, [link.id])).get(link.id) ?? [];
    const imageIds = openedImageIds(linkedImages, inaccessible);
    return imageIds.size === 0 ? null : { link, imageIds };
  }

  /** Checks the password of a link, if it has one. @throws AppError password_required, password_invalid, rate_limited, unavailable */
  async function requirePassword(link: ShareLinkRow, password: string | undefined, origin: Origin) {
    if (link.password_hash === null) return;
    if (password === undefined || password === '') throw new AppError('password_required');
    await throttle.requireShareLink(origin, link.id); // throws rate_limited after too many wrong passwords
    // The queue of password hashing takes turns between accounts. A visitor has no account, so the link takes its place.
    const requester = { address: origin.address, account: `share link ${link.id}` };
    if (await signIn.matchesPasswordHash(link.password_hash, password, requester)) {
      // Checked again, because concurrent attempts may have reached the limit while the password was hashed.
      await throttle.requireShareLink(origin, link.id);
      return;
    }
    await throttle.countFailedShareLink(origin, link.id); // counts the wrong password
    throw new AppError('password_invalid');
  }

  /** Counts an opening, creates the session of the visitor, and records the audit event. @throws AppError not_found without an opening left */
  async function openForNewVisitor(tx: DatabaseTransaction, { link, imageIds }: OpenedLink, origin: Origin) {
    if (!(await countOpening(tx, link.id))) throw new AppError('not_found');
    const session = await imageSessions.createForVisitor(tx, link);
    await audit.record(tx, {
      action: 'share-link-opened',
      actor: null,
      target: link.id,
      detail: { openings: link.openings + 1, slides: imageIds.size },
      origin,
    });
    return session;
  }

  return {
    async list(user) {
      const creatorUid = may(user, 'users.manage') ? undefined : user.uid; // undefined: the links of all accounts
      const rows = await listShareLinkRows(db, creatorUid);
      return rows.map((row) => {
        const { display_name, email, status, role, account_expires_at } = row;
        const creator = { status, role, expiresAt: account_expires_at };
        // A link without openings left has not ended: its earlier visitors still see its slides.
        const hasEnded = !isShareLinkValid(row, creator, now());
        return shareLinkOf(row, display_name ?? email, { ended: hasEnded });
      });
    },

    async create(
      actor,
      { target, title, expires_at, max_openings, password, show_annotations, free_movement },
    ) {
      const createdAt = now();
      const expiresAt = expiryOf(expires_at, createdAt);
      const secret = newSecret();
      const requester = { address: actor.origin.address, account: actor.email };
      const passwordHash = password ? await signIn.hashPassword(password, requester) : null;
      // The lock `accounts` prevents a concurrent change of the account's rights (see `LockName`).
      return runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'sharing.own');
        await requireSharing(tx, await imagesOf(user, target, tx));
        await actionLimiter.requireAllowed(tx, 'share-link-created', actor); // throws rate_limited
        const row: ShareLinkRow = {
          id: randomUUID(),
          secret_hash: hashSecret(secret),
          uid: actor.uid,
          title,
          target_type: target.type,
          target_id: target.id,
          password_hash: passwordHash,
          shows_annotations: show_annotations ? 1 : 0,
          allows_movement: free_movement ? 1 : 0,
          max_openings: max_openings ?? null,
          openings: 0,
          created_at: createdAt.toISOString(),
          expires_at: expiresAt,
          ended_at: null,
        };
        await insertShareLink(tx, row);
        await audit.record(tx, {
          action: 'share-link-created',
          actor: actor.uid,
          target: row.id,
          detail: { type: target.type, of: target.id, expires_at: expiresAt, max_openings: row.max_openings },
          origin: actor.origin,
        });
        const ownerName = user.displayName ?? user.email;
        return { ...shareLinkOf(row, ownerName, { ended: false }), url: `${publicUrl()}/shared#${secret}` };
      });
    },

    async end(actor, id) {
      await runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'sharing.own');
        const link = await findShareLink(tx, id);
        if (link === null || (link.uid !== actor.uid && !may(user, 'users.manage'))) {
          throw new AppError('not_found');
        }
        if (link.ended_at !== null) return;
        await endShareLinks(tx, [id], now().toISOString());
        await audit.record(tx, {
          action: 'share-link-ended',
          actor: actor.uid,
          target: id,
          detail: { openings: link.openings },
          origin: actor.origin,
        });
      });
      imageSessions.evictEnded({ shareLinkId: id }); // ends the cached sessions of its visitors
    },

    async open({ secret, password, session_id }, origin) {
      const secretHash = hashSecret(secret);
      const found = await findValidLink(db, secretHash);
      const isOpenable =
        found !== null &&
        (hasOpeningLeft(found.link) ||
          (session_id !== undefined && (await imageSessions.isRenewable(session_id, found.link.id))));
      if (!isOpenable) {
        await throttle.countFailedShareLink(origin, null); // counts the attempt; null: the secret opens no link
        throw new AppError('not_found');
      }
      await requirePassword(found.link, password, origin);
      await throttle.countShareLinkOpening(origin, found.link.id); // throws rate_limited after too many openings
      return runLockedTransaction(db, 'accounts', async (tx) => {
        // The link is read again, because it may have ended while the password was checked.
        const current = await findValidLink(tx, secretHash);
        if (current === null) throw new AppError('not_found');
        const { link, imageIds } = current;
        const { sessionId, expiresInSeconds } =
          (session_id !== undefined && (await imageSessions.renewForVisitor(tx, link, session_id))) ||
          (await openForNewVisitor(tx, current, origin));
        return {
          session_id: sessionId,
          expires_in: expiresInSeconds,
          title: link.title,
          items: await sharedItems(tx, link, imageIds),
          free_movement: link.allows_movement === 1,
          show_annotations: link.shows_annotations === 1,
          ...(link.target_type === 'collection' && { collection_id: link.target_id }),
        };
      });
    },
  };
}

/** Converts the row of a link to the `ShareLink` of the API. @param ownerName display name or e-mail address of its creator */
function shareLinkOf(
  row: ShareLinkRow,
  ownerName: string,
  { ended }: { readonly ended: boolean },
): ShareLink {
  return {
    id: row.id,
    title: row.title,
    target: { type: row.target_type, id: row.target_id },
    owner: row.uid,
    owner_name: ownerName,
    created_at: row.created_at,
    expires_at: row.expires_at,
    openings: row.openings,
    max_openings: row.max_openings,
    has_password: row.password_hash !== null,
    show_annotations: row.shows_annotations === 1,
    free_movement: row.allows_movement === 1,
    ended,
  };
}
