/**
 * `npm run audit:verify`: goes through the whole audit trail and says whether its chain of hashes is intact. Ends with
 * 1 when it is broken. The server may go on running.
 */
import './require-node.ts';
import path from 'node:path';
import { checkChain } from './auditing/chain-check.ts';
import { configOfProcess } from './config.ts';
import { openDatabase } from './store/database.ts';

async function verify(): Promise<void> {
  const config = configOfProcess();
  const db = await openDatabase({ url: config.databaseUrl, file: path.join(config.dataDir, 'lamina.db') });
  try {
    const { state, entries, brokenAt, lastHash } = await checkChain(db);
    if (state === 'intact') {
      console.log(`The audit trail is intact: ${entries} entries. The last hash is ${lastHash}`);
      return;
    }
    console.error(`The audit trail is broken at entry ${brokenAt}; the ${entries} entries before it fit.`);
    process.exitCode = 1;
  } finally {
    await db.destroy();
  }
}

process.umask(0o077); // as the server itself
try {
  await verify();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
