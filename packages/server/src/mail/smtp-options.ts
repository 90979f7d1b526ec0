/** Options for connections to the mail server, used for sending and by `npm run doctor`. */
import { isLoopback } from '../domain/provider-address.ts';
import type { Config } from '../platform/config.ts';

export type SmtpSettings = Pick<Config, 'allowPlaintextMail'> & { readonly smtpUrl: string };

/** Parameters of SMTP_URL with which the mail library could send in plain text. */
const plaintextParameters = ['requireTLS', 'ignoreTLS', 'opportunisticTLS', 'secure'] as const;

/**
 * Returns the options of the mail library. They require TLS, because e-mails contain links that set passwords: without
 * `requireTLS`, the library sends in plain text when a server offers no STARTTLS, or when an attacker on the network
 * removes the offer (RFC 3207 section 6). Plain text is allowed only to a mail server on this machine, or if the operator
 * allows it. The library lets parameters of the URL override options, so `plaintextParameters` are removed from the URL.
 */
export function smtpOptions({ smtpUrl, allowPlaintextMail }: SmtpSettings, timeoutMs: number) {
  const url = new URL(smtpUrl);
  const mayBePlaintext = allowPlaintextMail || isLoopback(url.hostname);
  if (!mayBePlaintext) for (const name of plaintextParameters) url.searchParams.delete(name);
  return {
    url: mayBePlaintext ? smtpUrl : url.href,
    ...(url.protocol === 'smtp:' && !mayBePlaintext && { requireTLS: true }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  } as const;
}

/** Returns whether sending failed because the mail server offers no STARTTLS, or its certificate is not trusted. */
export function isTlsError(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ETLS';
}

export const tlsAdvice =
  'The mail server must offer STARTTLS with a certificate that this machine trusts. Use smtps://, or set SMTP_ALLOW_PLAINTEXT=on to send e-mails unencrypted.';
