/**
 * `npm run audit:verify`: verifies the hash chain of the audit log, in which each entry contains the hash of the one before. The
 * exit code is 1 if the chain is broken or cannot be read. The server may keep running.
 */
import '../platform/require-node.ts';
import { checkChain } from '../audit/chain-check.ts';
import { configOfProcess } from '../platform/config.ts';
import { openExistingDatabase } from './open-existing-database.ts';

async function verify(): Promise<void> {
  const config = configOfProcess();
  const db = await openExistingDatabase(config);
  try {
    const { state, entries, brokenAt, lastEntryHash } = await checkChain(db);
    if (state === 'intact') {
      console.log(
        `The audit log is intact: ${entries} entries. The hash of the last entry is ${lastEntryHash}`,
      );
      return;
    }
    console.error(
      `The audit log is broken at entry ${brokenAt}; the ${entries} entries before it are intact.`,
    );
    process.exitCode = 1;
  } finally {
    await db.destroy();
  }
}

process.umask(0o077); // only the owner may read new files, as in the server
try {
  await verify();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
