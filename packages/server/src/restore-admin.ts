/**
 * `npm run restore-admin [-- address]`: makes an account an active administrator with a new password, for
 * when all administrators are gone. Whoever may run it may read the database anyway.
 */
import './require-node.ts';
import path from 'node:path';
import { Email } from '@lamina/contract';
import pino from 'pino';
import { createAudit } from './audit.ts';
import { ConfigError, configOfProcess } from './config.ts';
import { defaultAdminEmail, restoreAdmin } from './first-admin.ts';
import { createEmbeddedSignIn } from './sign-in/embedded.ts';
import { passwordCost } from './sign-in/password.ts';
import { openDatabase } from './store/database.ts';

async function restore(): Promise<void> {
  const config = configOfProcess();
  const address = Email.safeParse(process.argv[2] ?? config.adminEmail ?? defaultAdminEmail);
  if (!address.success) throw new ConfigError(`"${process.argv[2]}" is not an e-mail address.`);

  const db = await openDatabase({ url: config.databaseUrl, file: path.join(config.dataDir, 'lamina.db') });
  try {
    const now = () => new Date();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    const signIn = createEmbeddedSignIn({ db, log, now, passwordCost });
    const audit = createAudit({ db, now, log });
    const { email, password, isNew } = await restoreAdmin({ db, now, signIn, audit }, address.data);
    console.log(`${email} ${isNew ? 'has been made' : 'is'} an active administrator. Its password is now:

  ${password}

It is shown this once. ${isNew ? '' : 'Every earlier sign-in of the account has ended. '}The audit trail records it.`);
  } finally {
    await db.destroy();
  }
}

process.umask(0o077); // as the server itself
try {
  await restore();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
