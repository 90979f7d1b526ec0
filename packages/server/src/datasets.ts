/**
 * Who may see which dataset: open ones everybody who may look at slides, restricted ones those to whom an administrator
 * granted them. Each change is one transaction with its record; what memory knows is asked again at once.
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
import type { By } from './accounts.ts';
import type { Audit } from './audit.ts';
import { callerNow } from './caller-now.ts';
import type { Config } from './config.ts';
import { seesEveryDataset } from './domain/dataset-access.ts';
import type { ImageSessions } from './image-sessions.ts';
import type { Mail } from './mail/mail.ts';
import { datasetAnswerLetter } from './mail/texts.ts';
import type { SignInService } from './sign-in/sign-in-service.ts';
import { type Change, change, type Database } from './store/database.ts';
import { deleteGrant, hasGrant, insertGrant, listGrants } from './store/dataset-grants.ts';
import {
  answerDatasetRequests,
  findDatasetRequest,
  findDatasetRequestOf,
  listDatasetRequestsOf,
  listOpenDatasetRequests,
  saveDatasetRequest,
} from './store/dataset-requests.ts';
import {
  closedDatasetsOf,
  countImagesByDataset,
  findDataset,
  isDataset,
  listDatasetRows,
  nothingClosed,
  saveDataset,
} from './store/datasets.ts';
import { findUser } from './store/users.ts';
import type { WaitingNotices } from './waiting-notices.ts';

export interface Datasets {
  /** In natural order of their names. */
  list(): Promise<Dataset[]>;
  /** @param listed what it was, when nothing is said. @throws AppError not_found */
  update(
    by: By,
    name: string,
    decision: { readonly access: DatasetAccess; readonly listed?: boolean | undefined },
  ): Promise<void>;
  /** Does nothing when it is granted already. @throws AppError not_found */
  grant(by: By, name: string, uid: string): Promise<void>;
  /** Does nothing when it is not granted. */
  revoke(by: By, name: string, uid: string): Promise<void>;
  /** @throws AppError not_found, already_answered */
  answer(by: By, requestId: string, answer: { granted: boolean; reason?: string | undefined }): Promise<void>;
  /** Listed restricted datasets, in natural order of their names; none for whoever sees all. */
  requestable(user: User): Promise<RequestableDataset[]>;
  /**
   * Asks for a listed dataset; asking again, while nobody has answered, changes the reason.
   *
   * @returns false when there is nothing to ask for: the account sees it already
   * @throws AppError not_found, also for a dataset that is open, and one that members are not to know of
   */
  request(by: By, name: string, reason: string): Promise<boolean>;
  /** Names of the restricted datasets that this account may not see, as the database has it now. */
  closedTo(user: User): Promise<ReadonlySet<string>>;
}

interface Ground {
  readonly config: Pick<Config, 'productName'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly mail: Mail;
  readonly signIn: Pick<SignInService, 'holderOf'>;
  readonly imageSessions: Pick<ImageSessions, 'recheck'>;
  readonly waitingNotices: Pick<WaitingNotices, 'asked'>;
  readonly publicUrl: () => string;
}

export function createDatasets(ground: Ground): Datasets {
  const { config, db, audit, mail, signIn, imageSessions, waitingNotices, publicUrl } = ground;
  const now = () => ground.now().toISOString();

  /** Alone among changes of accounts, by an administrator who still is one. */
  function administer<T>(by: By, work: (tx: Change) => Promise<T>): Promise<T> {
    return change(db, 'accounts', async (tx) => {
      await callerNow(tx, signIn, by, 'users.manage');
      return work(tx);
    });
  }

  /** @returns whether it was not granted before */
  async function give(tx: Change, by: By, name: string, uid: string): Promise<void> {
    const at = now();
    const isNew = await insertGrant(tx, { uid, dataset: name, grantedBy: by.uid, now: at });
    await answerDatasetRequests(
      tx,
      { uid, datasets: [name] },
      { answer: 'granted', reason: null, by: by.uid, now: at },
    );
    if (!isNew) return;
    await audit.record(tx, {
      action: 'dataset-granted',
      actor: by.uid,
      target: uid,
      detail: { dataset: name },
      origin: by.origin,
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
      const decided = new Map(rows.map((row) => [row.name, row]));
      const names = [...new Set([...counts.keys(), ...decided.keys()])].sort(naturalCompare);
      const grantsOf = Map.groupBy(grants, ({ dataset }) => dataset);
      const requestsOf = Map.groupBy(requests, ({ dataset }) => dataset);
      return names.map((name) => ({
        name,
        access: decided.get(name)?.access ?? 'open',
        listed: decided.get(name)?.is_listed === 1,
        images: counts.get(name) ?? 0,
        grants: grantsOf.get(name) ?? [],
        requests: requestsOf.get(name) ?? [],
      }));
    },

    async update(by, name, { access, listed }) {
      await administer(by, async (tx) => {
        if (!(await isDataset(tx, name))) throw new AppError('not_found');
        const before = await findDataset(tx, name);
        const isListed = listed ?? before?.is_listed === 1;
        if ((before?.access ?? 'open') === access && (before?.is_listed === 1) === isListed) return;
        await saveDataset(tx, { name, access, isListed, now: now() });
        await audit.record(tx, {
          action: 'dataset-changed',
          actor: by.uid,
          target: null,
          detail: { dataset: name, access, listed: isListed },
          origin: by.origin,
        });
      });
      imageSessions.recheck();
    },

    async grant(by, name, uid) {
      await administer(by, async (tx) => {
        if ((await findUser(tx, uid)) === null || !(await isDataset(tx, name))) {
          throw new AppError('not_found');
        }
        await give(tx, by, name, uid);
      });
      imageSessions.recheck({ uid });
    },

    async revoke(by, name, uid) {
      await administer(by, async (tx) => {
        if (!(await deleteGrant(tx, uid, name))) return;
        await audit.record(tx, {
          action: 'dataset-revoked',
          actor: by.uid,
          target: uid,
          detail: { dataset: name },
          origin: by.origin,
        });
      });
      imageSessions.recheck({ uid });
    },

    async answer(by, requestId, { granted, reason = null }) {
      const uid = await administer(by, async (tx) => {
        const request = await findDatasetRequest(tx, requestId);
        const asker = request && (await findUser(tx, request.uid));
        if (request === null || asker === null) throw new AppError('not_found');
        if (request.answer !== null) throw new AppError('already_answered');
        if (granted) {
          await give(tx, by, request.dataset, request.uid);
        } else {
          await answerDatasetRequests(
            tx,
            { uid: request.uid, datasets: [request.dataset] },
            { answer: 'refused', reason, by: by.uid, now: now() },
          );
          await audit.record(tx, {
            action: 'dataset-request-refused',
            actor: by.uid,
            target: request.uid,
            detail: { dataset: request.dataset },
            origin: by.origin,
          });
        }
        const words = { to: asker.email, productName: config.productName, publicUrl: publicUrl() };
        await mail.queue(tx, datasetAnswerLetter({ ...words, dataset: request.dataset, granted, reason }));
        return asker.uid;
      });
      imageSessions.recheck({ uid });
      mail.wake();
    },

    async requestable(user) {
      if (seesEveryDataset(user)) return [];
      const [rows, requests, closed] = await Promise.all([
        listDatasetRows(db),
        listDatasetRequestsOf(db, user.uid),
        closedDatasetsOf(db, [user.uid]),
      ]);
      const requestOf = new Map(requests.map((request) => [request.dataset, request]));
      return rows
        .filter(({ access, is_listed }) => access === 'restricted' && is_listed === 1)
        .sort((a, b) => naturalCompare(a.name, b.name))
        .map(({ name }) => {
          const request = requestOf.get(name);
          return {
            name,
            granted: !closed.get(user.uid)?.has(name),
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

    async request(by, name, reason) {
      const isSent = await change(db, 'accounts', async (tx) => {
        const user = await callerNow(tx, signIn, by, 'catalogue.read');
        const dataset = await findDataset(tx, name);
        const isOpen = seesEveryDataset(user) || (await hasGrant(tx, by.uid, name));
        // One answer for what is not there, what is open, and what nobody is to know of.
        if (dataset?.access !== 'restricted' || (dataset.is_listed === 0 && !isOpen)) {
          throw new AppError('not_found');
        }
        if (isOpen) return false;
        const earlier = await findDatasetRequestOf(tx, by.uid, name);
        const open = earlier !== null && earlier.answer === null ? earlier : { id: randomUUID(), at: now() };
        await saveDatasetRequest(tx, { id: open.id, uid: by.uid, dataset: name, reason, at: open.at });
        await audit.record(tx, {
          action: 'dataset-requested',
          actor: by.uid,
          target: by.uid,
          detail: { dataset: name },
          origin: by.origin,
        });
        return true;
      });
      if (isSent) waitingNotices.asked();
      return isSent;
    },

    async closedTo(user) {
      if (seesEveryDataset(user)) return nothingClosed;
      return (await closedDatasetsOf(db, [user.uid])).get(user.uid) ?? nothingClosed;
    },
  };
}
