/** A check of `npm run doctor`: the connection to the mail server. */
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { isTlsError, smtpOptions, tlsAdvice } from '../mail/smtp-options.ts';
import type { Config } from '../platform/config.ts';
import { type Finding, note, ok, reasonOf, wrong } from './finding.ts';

const timeoutMs = 5000;

/** Checks that the mail server accepts a connection and the sign-in. Sends no e-mail. */
export async function checkMail({
  smtpUrl,
  mailFrom,
  dataDir,
  allowPlaintextMail,
}: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir' | 'allowPlaintextMail'>): Promise<Finding> {
  if (smtpUrl === null) {
    return note(
      'Mail',
      `No mail server is set: e-mails are written as files to ${path.join(dataDir, 'outbox')}, and reset links do not reach people.`,
      'Set SMTP_URL and MAIL_FROM, or let an administrator set forgotten passwords.',
    );
  }
  const { host } = new URL(smtpUrl);
  const transport = createTransport(smtpOptions({ smtpUrl, allowPlaintextMail }, timeoutMs));
  try {
    await transport.verify(); // connects and signs in
    return ok('Mail', `${host} accepts the sign-in; the sender of e-mails is ${mailFrom}.`);
  } catch (error) {
    return wrong(
      'Mail',
      `${host} does not accept e-mails: ${reasonOf(error)}.`,
      isTlsError(error)
        ? tlsAdvice
        : 'Check that SMTP_URL contains host, port, user and password (smtps:// for TLS from the first byte), and that a firewall allows the connection.',
    );
  } finally {
    transport.close();
  }
}
