/**
 * Access to datasets: an open dataset is visible to every account that may view slides, a restricted dataset only to administrators
 * and to the accounts to which one of them has granted it. Each change is one transaction with its audit event. After the change,
 * `invalidateRights` makes the server read the rights of the affected image sessions (the credentials of pixel requests) again.
 *
 * The file is long because all operations share the transaction, the audit event and the steps after a commit.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type Dataset,
  type DatasetAccess,
  naturalCompare,
  type RequestableDataset,
  type User,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { seesEveryDataset } from '../domain/dataset-access.ts';
import type { AdminDigest } from '../mail/admin-digest.ts';
import { datasetAnswerEmail } from '../mail/email-texts.ts';
import type { Mail } from '../mail/mail.ts';
import type { Recipients } from '../mail/recipients.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { registerName, spellingOf } from '../store/catalogue-names.ts';
import {
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { deleteGrant, hasGrant, insertGrant, listGrants, setDownloadGrant } from '../store/dataset-grants.ts';
import {
  answerDatasetRequests,
  findDatasetRequest,
  findDatasetRequestOf,
  listDatasetRequestsOf,
  listOpenDatasetRequests,
  saveDatasetRequest,
} from '../store/dataset-requests.ts';
import {
  countImagesByDataset,
  datasetExists,
  findDataset,
  listDatasetRows,
  restrictedDatasetsOf,
  saveDataset,
} from '../store/datasets.ts';
import { deleteVisitorSessionsIn } from '../store/share-links.ts';
import { findUser } from '../store/users.ts';
import { findInaccessibleDatasets } from './inaccessible-datasets.ts';

export interface Datasets {
  /** Returns all datasets in natural order of their names. */
  list(): Promise<Dataset[]>;
  /**
   * Opens or restricts a dataset and changes its other settings. A dataset without slides can be restricted, so that its first
   * slides are restricted from the start.
   *
   * @param name name of the dataset in any spelling, as in all other methods
   * @param settings undefined settings stay unchanged, except that restricting an open dataset switches `sharing` off
   * @throws AppError not_found for a dataset that does not exist, unless the call restricts it
   */
  update(
    actor: Actor,
    name: string,
    settings: {
      readonly access?: DatasetAccess | undefined;
      /** Whether accounts without a grant can see, and request, the dataset while it is restricted. */
      readonly listed?: boolean | undefined;
      /** Whether share links may open slides of the dataset. */
      readonly sharing?: boolean | undefined;
      /** Whether accounts may download original files from which the server cannot remove patient data. */
      readonly identifiableOriginals?: boolean | undefined;
    },
  ): Promise<void>;
  /**
   * Grants a dataset to an account; an existing grant stays.
   *
   * @param download whether the account may download original files; undefined keeps the current value
   * @throws AppError not_found for an unknown dataset or account
   */
  grant(actor: Actor, name: string, uid: string, download?: boolean): Promise<void>;
  /** Revokes a grant; does nothing when there is none. */
  revoke(actor: Actor, name: string, uid: string): Promise<void>;
  /** Answers a request for a dataset. @throws AppError not_found, already_answered */
  answer(
    actor: Actor,
    requestId: string,
    answer: { granted: boolean; reason?: string | undefined },
  ): Promise<void>;
  /**
   * Returns the restricted datasets that are listed, in natural order of their names, with the account's grant or request. An
   * account that sees all datasets gets an empty list.
   */
  listRequestable(user: User): Promise<RequestableDataset[]>;
  /**
   * Requests access to a restricted dataset that is listed. A repeated request before the answer replaces the reason.
   *
   * @returns false when the account already has access, also to a dataset that is not listed
   * @throws AppError not_found for a dataset that does not exist or is open, and without access for one that is not listed
   */
  request(actor: Actor, name: string, reason: string): Promise<boolean>;
  /** Returns the names of the datasets that the account may not see (see `findInaccessibleDatasets`). */
  inaccessibleTo(user: User, connection?: Connection): Promise<ReadonlySet<string>>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly mail: Mail;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  readonly actionLimiter: ActionLimiter;
  readonly imageSessions: Pick<ImageSessions, 'invalidateRights'>;
  readonly adminDigest: Pick<AdminDigest, 'schedule'>;
  readonly recipients: Recipients;
}

export function createDatasets(dependencies: Dependencies): Datasets {
  const { db, audit, mail, signIn, actionLimiter, imageSessions, adminDigest, recipients } = dependencies;
  const nowIso = () => dependencies.now().toISOString();

  /** Runs a transaction under the lock `accounts`, after checking that the caller is still an administrator. */
  function runAsAdministrator<T>(actor: Actor, work: (tx: DatabaseTransaction) => Promise<T>): Promise<T> {
    return runLockedTransaction(db, 'accounts', async (tx) => {
      await recheckCaller(tx, signIn, actor, 'users.manage');
      return work(tx);
    });
  }

  /** Grants a dataset to an account, and answers the account's open request for the dataset. */
  async function grantDataset(
    tx: DatabaseTransaction,
    actor: Actor,
    name: string,
    uid: string,
  ): Promise<void> {
    const at = nowIso();
    const isNew = await insertGrant(tx, { uid, dataset: name, grantedBy: actor.uid, now: at });
    await answerDatasetRequests(
      tx,
      { uid, datasets: [name] },
      { answer: 'granted', reason: null, answeredBy: actor.uid, now: at },
    );
    if (!isNew) return;
    await audit.record(tx, {
      action: 'dataset-granted',
      actor: actor.uid,
      target: uid,
      detail: { dataset: name },
      origin: actor.origin,
    });
  }

  return {
    async list() {
      const [counts, rows, grants, requests] = await Promise.all([
        countImagesByDataset(db),
        listDatasetRows(db),
        listGrants(db),
        listOpenDatasetRequests(db),
      ]);
      const settingsByName = new Map(rows.map((row) => [row.name, row]));
      const names = [...new Set([...counts.keys(), ...settingsByName.keys()])].sort(naturalCompare);
      const grantsByDataset = Map.groupBy(grants, ({ dataset }) => dataset);
      const requestsByDataset = Map.groupBy(requests, ({ dataset }) => dataset);
      return names.map((name) => ({
        name,
        access: settingsByName.get(name)?.access ?? 'open',
        listed: settingsByName.get(name)?.is_listed === 1,
        sharing: settingsByName.get(name)?.is_shared === 1,
        images: counts.get(name) ?? 0,
        identifiable_originals: settingsByName.get(name)?.identifiable_originals === 1,
        grants: grantsByDataset.get(name) ?? [],
        requests: requestsByDataset.get(name) ?? [],
      }));
    },

    async update(actor, requestedName, { access: newAccess, listed, sharing, identifiableOriginals }) {
      await runAsAdministrator(actor, async (tx) => {
        // A dataset may be restricted before it has slides or settings. Every other change requires that it exists.
        if (
          newAccess !== 'restricted' &&
          !(await datasetExists(tx, await spellingOf(tx, 'dataset', requestedName)))
        ) {
          throw new AppError('not_found');
        }
        const name = await registerName(tx, 'dataset', requestedName); // the canonical spelling
        const before = await findDataset(tx, name);
        const access = newAccess ?? before?.access ?? 'open';
        const isListed = listed ?? before?.is_listed === 1;
        const wasShared = before?.is_shared === 1;
        const becomesRestricted = access === 'restricted' && before?.access !== 'restricted';
        const isShared = sharing ?? (wasShared && !becomesRestricted);
        const hadIdentifiableOriginals = before?.identifiable_originals === 1;
        const hasIdentifiableOriginals = identifiableOriginals ?? hadIdentifiableOriginals;
        const isUnchanged =
          (before?.access ?? 'open') === access &&
          (before?.is_listed === 1) === isListed &&
          wasShared === isShared &&
          hadIdentifiableOriginals === hasIdentifiableOriginals;
        if (isUnchanged) return;
        await saveDataset(tx, { name, access, isListed, isShared, hasIdentifiableOriginals, now: nowIso() });
        // Deletes visitors' image sessions, so that these do not become valid again when sharing is switched on again.
        // A restriction also matters for a dataset that was not shared: a link to one of its cases may open slides of a shared dataset.
        if (becomesRestricted || (wasShared && !isShared)) await deleteVisitorSessionsIn(tx, name);
        await audit.record(tx, {
          action: 'dataset-changed',
          actor: actor.uid,
          target: null,
          detail: {
            dataset: name,
            access,
            listed: isListed,
            sharing: isShared,
            ...(hadIdentifiableOriginals !== hasIdentifiableOriginals && {
              identifiable_originals: hasIdentifiableOriginals,
            }),
          },
          origin: actor.origin,
        });
      });
      imageSessions.invalidateRights(); // of all accounts
    },

    async grant(actor, requestedName, uid, download) {
      await runAsAdministrator(actor, async (tx) => {
        const name = await spellingOf(tx, 'dataset', requestedName);
        if ((await findUser(tx, uid)) === null || !(await datasetExists(tx, name))) {
          throw new AppError('not_found');
        }
        await grantDataset(tx, actor, name, uid);
        if (download === undefined) return;
        if (!(await setDownloadGrant(tx, { uid, dataset: name, isAllowed: download }))) return;
        await audit.record(tx, {
          action: 'dataset-granted',
          actor: actor.uid,
          target: uid,
          detail: { dataset: name, download },
          origin: actor.origin,
        });
      });
      imageSessions.invalidateRights({ uid });
    },

    async revoke(actor, requestedName, uid) {
      await runAsAdministrator(actor, async (tx) => {
        const name = await spellingOf(tx, 'dataset', requestedName);
        if (!(await deleteGrant(tx, uid, name))) return;
        await audit.record(tx, {
          action: 'dataset-revoked',
          actor: actor.uid,
          target: uid,
          detail: { dataset: name },
          origin: actor.origin,
        });
      });
      imageSessions.invalidateRights({ uid });
    },

    async answer(actor, requestId, { granted, reason = null }) {
      const uid = await runAsAdministrator(actor, async (tx) => {
        const request = await findDatasetRequest(tx, requestId);
        const requestingUser = request && (await findUser(tx, request.uid));
        if (request === null || requestingUser === null) throw new AppError('not_found');
        if (request.answer !== null) throw new AppError('already_answered');
        if (granted) {
          await grantDataset(tx, actor, request.dataset, request.uid);
        } else {
          await answerDatasetRequests(
            tx,
            { uid: request.uid, datasets: [request.dataset] },
            { answer: 'refused', reason, answeredBy: actor.uid, now: nowIso() },
          );
          await audit.record(tx, {
            action: 'dataset-request-refused',
            actor: actor.uid,
            target: request.uid,
            detail: { dataset: request.dataset },
            origin: actor.origin,
          });
        }
        const answer = { dataset: request.dataset, granted, reason };
        await mail.queue(tx, datasetAnswerEmail(await recipients.forAccount(tx, requestingUser), answer));
        return requestingUser.uid;
      });
      imageSessions.invalidateRights({ uid });
      mail.wake();
    },

    async listRequestable(user) {
      if (seesEveryDataset(user)) return [];
      const [rows, requests, inaccessibleByUid] = await Promise.all([
        listDatasetRows(db),
        listDatasetRequestsOf(db, user.uid),
        restrictedDatasetsOf(db, [user.uid]),
      ]);
      const requestByDataset = new Map(requests.map((request) => [request.dataset, request]));
      return rows
        .filter(({ access, is_listed }) => access === 'restricted' && is_listed === 1)
        .sort((a, b) => naturalCompare(a.name, b.name))
        .map(({ name }) => {
          const request = requestByDataset.get(name);
          return {
            name,
            granted: !inaccessibleByUid.get(user.uid)?.has(name),
            request:
              request === undefined
                ? null
                : {
                    at: request.at,
                    reason: request.reason,
                    answer: request.answer,
                    answer_reason: request.answer_reason,
                  },
          };
        });
    },

    async request(actor, requestedName, reason) {
      const isRequested = await runLockedTransaction(db, 'accounts', async (tx) => {
        const name = await spellingOf(tx, 'dataset', requestedName);
        const user = await recheckCaller(tx, signIn, actor, 'catalogue.read');
        const dataset = await findDataset(tx, name);
        const hasAccess = seesEveryDataset(user) || (await hasGrant(tx, actor.uid, name));
        // The error is the same for unknown, open and unlisted datasets, so that it does not reveal which case applies.
        if (dataset?.access !== 'restricted' || (dataset.is_listed === 0 && !hasAccess)) {
          throw new AppError('not_found');
        }
        if (hasAccess) return false;
        const earlierRequest = await findDatasetRequestOf(tx, actor.uid, name);
        const openRequest = earlierRequest?.answer === null ? earlierRequest : null;
        // A repeated request with the same reason changes nothing and is not audited again.
        if (openRequest?.reason === reason) return true;
        await actionLimiter.requireAllowed(tx, 'dataset-requested', actor);
        const { id, at } = openRequest ?? { id: randomUUID(), at: nowIso() };
        await saveDatasetRequest(tx, { id, uid: actor.uid, dataset: name, reason, at });
        await audit.record(tx, {
          action: 'dataset-requested',
          actor: actor.uid,
          target: actor.uid,
          detail: { dataset: name },
          origin: actor.origin,
        });
        return true;
      });
      if (isRequested) adminDigest.schedule(); // e-mails administrators about new requests
      return isRequested;
    },

    inaccessibleTo: (user, connection = db) => findInaccessibleDatasets(connection, user),
  };
}
