import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Config } from '../config.ts';
import { type Finding, note, ok, reasonOf, wrong } from './finding.ts';

const answersWithinMs = 5000;

/** Connects and signs in; no letter is sent. */
export async function checkMail({
  smtpUrl,
  mailFrom,
  dataDir,
}: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir'>): Promise<Finding> {
  if (smtpUrl === null) {
    return note(
      'Mail',
      `No mail server is set: letters are files in ${path.join(dataDir, 'outbox')}, and nobody is told of a reset link.`,
      'Set SMTP_URL and MAIL_FROM, or let an administrator set forgotten passwords.',
    );
  }
  const { host } = new URL(smtpUrl);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: answersWithinMs,
    greetingTimeout: answersWithinMs,
    socketTimeout: answersWithinMs,
  });
  try {
    await transport.verify();
    return ok('Mail', `${host} lets us in; letters come from ${mailFrom}.`);
  } catch (error) {
    return wrong(
      'Mail',
      `${host} does not take letters: ${reasonOf(error)}.`,
      'See that SMTP_URL names host, port, user and password (smtps:// for TLS from the first byte), and that a firewall lets this machine out.',
    );
  } finally {
    transport.close();
  }
}
