/**
 * A worker thread that writes entries of the audit log over its own database connection, concurrently with other writers. Every
 * third of its transactions fails. `workerData` contains the task.
 */
import { workerData } from 'node:worker_threads';
import { insertAuditRow } from '../audit.ts';
import { type DatabaseLocation, openDatabase, runLockedTransaction } from '../database.ts';

export interface Task {
  readonly location: DatabaseLocation;
  /** First part of the actor's uid in the entries. */
  readonly writer: string;
  /** Number of transactions, each of which writes one entry. */
  readonly changes: number;
}

const { location, writer, changes } = workerData as Task;
const db = await openDatabase(location);
for (let number = 1; number <= changes; number++) {
  const work = runLockedTransaction(db, 'audit', async (tx) => {
    await insertAuditRow(tx, {
      at: new Date().toISOString(),
      action: 'sign-in',
      result: 'done',
      actor_uid: `${writer}-${number}`,
      target: null,
      detail: '{}',
      address: null,
      request_id: null,
    });
    if (number % 3 === 0) throw new Error('the change failed');
  });
  await work.catch((error: Error) => {
    if (error.message !== 'the change failed') throw error;
  });
}
await db.destroy();
