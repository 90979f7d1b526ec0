/**
 * `npm run restore-admin [-- e-mail]`: makes an account an active administrator with a new password, for an installation that no
 * administrator can sign in to. The command checks no permissions, because its user has direct access to the database.
 */
import '../platform/require-node.ts';
import { Email } from '@lamina/contract';
import pino from 'pino';
import { defaultAdminEmail, restoreAdmin } from '../accounts/first-admin.ts';
import { createAuditRecorder } from '../audit/audit-recorder.ts';
import { ConfigError, configOfProcess } from '../platform/config.ts';
import { createEmbeddedSignIn } from '../sign-in/embedded-sign-in.ts';
import { passwordCost } from '../sign-in/password.ts';
import { openExistingDatabase } from './open-existing-database.ts';

async function restore(): Promise<void> {
  const config = configOfProcess();
  const parsedEmail = Email.safeParse(process.argv[2] ?? config.adminEmail ?? defaultAdminEmail);
  if (!parsedEmail.success) throw new ConfigError(`"${process.argv[2]}" is not an e-mail address.`);

  const db = await openExistingDatabase(config);
  try {
    const now = () => new Date();
    const log = pino({ level: config.logLevel }, pino.destination(2)); // standard error
    const signIn = createEmbeddedSignIn({ db, log, now, passwordCost });
    const audit = createAuditRecorder({ db, now, log });
    const { email, password, isNew } = await restoreAdmin({ db, now, signIn, audit }, parsedEmail.data);
    console.log(`${email} ${isNew ? 'is now' : 'is'} an active administrator. The new password is:

  ${password}

It is shown only once. ${isNew ? '' : 'All earlier sign-ins of the account have ended. '}The audit log records this.`);
  } finally {
    await db.destroy();
  }
}

process.umask(0o077); // only the owner may read new files, as in the server
try {
  await restore();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
