/**
 * Reads and changes the annotation classes (names with colours, such as Tumor) of datasets. A dataset whose classes
 * were never changed has the default classes.
 */
import {
  AppError,
  type BodyOf,
  defaultAnnotationClasses,
  type ResponseOf,
  type User,
  type updateAnnotationClasses,
} from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { seesEveryDataset } from '../domain/dataset-access.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { findClasses, type StoredClasses, saveClasses } from '../store/annotation-classes.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { type Connection, type Database, runLockedTransaction } from '../store/database.ts';
import { datasetExists, hasVisibleImage } from '../store/datasets.ts';

type Classes = ResponseOf<typeof updateAnnotationClasses>;

export interface AnnotationClasses {
  /**
   * Returns the classes of a dataset.
   *
   * @param name name of the dataset; upper and lower case and Unicode forms are equivalent
   * @throws AppError not_found
   */
  get(reader: User, name: string): Promise<Classes>;
  /**
   * Replaces the classes of a dataset.
   *
   * @param name as in `get`
   * @throws AppError not_found; conflict when `newClasses.version` is not the current version; the errors of `recheckCaller`
   */
  update(actor: Actor, name: string, newClasses: BodyOf<typeof updateAnnotationClasses>): Promise<Classes>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
}

export function createAnnotationClasses(dependencies: Dependencies): AnnotationClasses {
  const { db, audit, signIn } = dependencies;
  return {
    async get(reader, requestedName) {
      const dataset = await requireDataset(db, reader, requestedName);
      return classesOf(await findClasses(db, dataset));
    },

    update: (actor, requestedName, { classes, version }) =>
      // The lock keeps the caller's permission valid until the commit.
      runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'annotations.manage');
        const dataset = await requireDataset(tx, user, requestedName);
        const before = await findClasses(tx, dataset);
        const current = classesOf(before);
        if (version !== current.version) throw new AppError('conflict', { conflicts: [current] });
        const after = { classes, version: current.version + 1 };
        await saveClasses(tx, dataset, after, dependencies.now().toISOString());
        await audit.record(tx, {
          action: 'annotation-classes-changed',
          actor: actor.uid,
          target: null,
          detail: { dataset, classes: classes.length },
          origin: actor.origin,
        });
        return classesOf(after);
      }),
  };
}

function classesOf(stored: StoredClasses | null): Classes {
  return stored === null
    ? { classes: [...defaultAnnotationClasses], version: 0 }
    : { classes: [...stored.classes], version: stored.version };
}

/** Returns the name of a dataset in its stored spelling. @throws AppError not_found, also if the account may not see the dataset */
async function requireDataset(db: Connection, reader: User, requestedName: string): Promise<string> {
  const name = await spellingOf(db, 'dataset', requestedName);
  const inaccessible = await findInaccessibleDatasets(db, reader);
  // Accounts that see every dataset also see those without a visible image.
  const exists = seesEveryDataset(reader) ? await datasetExists(db, name) : await hasVisibleImage(db, name);
  if (!exists || inaccessible.has(name)) throw new AppError('not_found');
  return name;
}
