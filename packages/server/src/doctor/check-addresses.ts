/** Checks of `npm run doctor`: ports, public address, trusted proxies, sign-in provider (OpenID Connect) and secrets. */
import { once } from 'node:events';
import net from 'node:net';
import { isAddressEntry } from '../domain/address-list.ts';
import { type Config, serverUrlOf } from '../platform/config.ts';
import { type Finding, note, ok, reasonOf, wrong } from './finding.ts';

const timeoutMs = 5000;
const loopbackPattern = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Checks that the ports of the server are free or used by Lamina, and that the metrics are not exposed. */
export async function checkPorts(
  config: Pick<Config, 'host' | 'port' | 'metricsHost' | 'metricsPort'>,
): Promise<Finding[]> {
  const findings = [await checkPort(config.host, config.port, 'PORT', '/health/live')];
  if (config.metricsPort !== null) {
    findings.push(await checkPort(config.metricsHost, config.metricsPort, 'METRICS_PORT', '/metrics'));
    if (!loopbackPattern.test(config.metricsHost)) {
      findings.push(
        note(
          'Metrics',
          `METRICS_HOST=${config.metricsHost}: every machine that reaches this address can read the metrics.`,
          'Allow only your monitoring, by a firewall or an internal network.',
        ),
      );
    }
  }
  return findings;
}

/** Checks that one port is free or used by Lamina. @param probePath path for which Lamina answers with status 200 on this port */
async function checkPort(host: string, port: number, setting: string, probePath: string): Promise<Finding> {
  const subject = setting === 'PORT' ? 'Port' : 'Metrics port';
  if (port === 0) return ok(subject, 'The server chooses any free port.');
  const server = net.createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    return ok(subject, `${port} at ${host} is free.`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const isLamina = await respondsWithSuccess(`${serverUrlOf(host, port)}${probePath}`);
      if (isLamina) return ok(subject, `${port} at ${host}: Lamina is running there.`);
      return wrong(
        subject,
        `${port} at ${host} is in use by another program.`,
        `Stop that program, or choose another ${setting}.`,
      );
    }
    if (code === 'EACCES') {
      return wrong(
        subject,
        `${setting}=${port} requires special rights.`,
        'Choose a port above 1023, and let a reverse proxy answer at 443.',
      );
    }
    return wrong(
      subject,
      `Cannot listen on ${host}:${port}: ${reasonOf(error)}.`,
      'Set HOST to an address of this machine, 127.0.0.1 behind a proxy on it, or 0.0.0.0 for all.',
    );
  }
}

async function respondsWithSuccess(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })).ok;
  } catch {
    return false;
  }
}

/** Checks the public URL, the cookie of image sessions (the credentials of pixel requests) and the trusted proxies. */
export function checkAddresses(
  config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'trustedProxies' | 'imageSessionCookie'>,
): Finding[] {
  const { publicUrl, host, port, trustedProxies } = config;
  const url = new URL(publicUrl ?? serverUrlOf(host, port)); // the start of links in e-mails and redirects
  const isLoopback = loopbackPattern.test(url.hostname);
  const isHttps = url.protocol === 'https:';
  const findings: Finding[] = [];
  if (isLoopback && !loopbackPattern.test(host)) {
    findings.push(
      wrong(
        'PUBLIC_URL',
        `Other machines reach this server (HOST=${host}), but e-mails and redirects contain ${url.origin}.`,
        'Set PUBLIC_URL to the address that people use.',
      ),
    );
  } else if (!isLoopback && !isHttps) {
    findings.push(
      wrong(
        'PUBLIC_URL',
        `${url.origin} is not encrypted: the network can read passwords and slides.`,
        'Put a reverse proxy with a certificate in front (deploy/nginx.conf), and begin PUBLIC_URL with https://.',
      ),
    );
  } else findings.push(ok('PUBLIC_URL', `${url.origin}${isLoopback ? ', on this machine only' : ''}.`));
  if (config.imageSessionCookie === 'strict' && !isHttps) {
    findings.push(
      wrong(
        'IMAGE_SESSION_COOKIE',
        'strict requires https: browsers send this cookie over https only.',
        'Begin PUBLIC_URL with https://, or set IMAGE_SESSION_COOKIE=off.',
      ),
    );
  }
  return [...findings, checkProxies(trustedProxies, isHttps)];
}

function checkProxies(proxies: readonly string[], isHttps: boolean): Finding {
  const subject = 'TRUSTED_PROXIES';
  const invalidEntries = proxies.filter((proxy) => !isAddressEntry(proxy));
  if (invalidEntries.length > 0) {
    return wrong(
      subject,
      `"${invalidEntries.join(', ')}" is neither an address nor a network.`,
      'Name addresses or networks, as in 10.0.0.5 or 10.0.0.0/24, not host names.',
    );
  }
  // The networks 0.0.0.0/0 and ::/0 contain all addresses.
  if (proxies.some((proxy) => proxy.endsWith('/0'))) {
    return wrong(
      subject,
      'Every client is trusted as a proxy and can forge its address, in the audit log and for the throttle.',
      'Name only the address of the proxy.',
    );
  }
  if (proxies.length > 0) return ok(subject, `${proxies.join(', ')}.`);
  return isHttps
    ? wrong(
        subject,
        'PUBLIC_URL is https, which requires a proxy, but none is named: all requests seem to come from its address.',
        'Name the address of the proxy, as in TRUSTED_PROXIES=127.0.0.1.',
      )
    : ok(subject, 'None, and none seems to be required.');
}

/** Checks that the OpenID Connect provider can be reached and states the configured issuer. */
export async function checkProvider({ signIn: { external } }: Pick<Config, 'signIn'>): Promise<Finding[]> {
  if (external === null) return [];
  const discoveryUrl = `${external.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const advice =
    'Set OIDC_ISSUER exactly as the provider states it, and check that this machine can reach it.';
  try {
    const response = await fetch(discoveryUrl, { signal: AbortSignal.timeout(timeoutMs) });
    const { issuer } = (await response.json()) as { issuer?: unknown };
    if (issuer === external.issuer) return [ok('Sign-in provider', `${external.issuer} answers.`)];
    return [wrong('Sign-in provider', `${discoveryUrl} states the issuer "${String(issuer)}".`, advice)];
  } catch (error) {
    return [
      wrong('Sign-in provider', `${discoveryUrl} does not answer as expected: ${reasonOf(error)}.`, advice),
    ];
  }
}

/** Checks that SECRET_KEY is set for PostgreSQL, which several servers may share, and that the throttle of sign-in attempts is on. */
export function checkSecrets({
  databaseUrl,
  secretKey,
  throttle,
}: Pick<Config, 'databaseUrl' | 'secretKey' | 'throttle'>): Finding[] {
  const findings: Finding[] = [];
  if (databaseUrl !== null && secretKey === null) {
    findings.push(
      wrong(
        'SECRET_KEY',
        'This setting is missing: each server creates its own key and cannot decrypt what another has encrypted in the shared database.',
        'Set the same SECRET_KEY on all servers (openssl rand -base64 32). With one server, keep DATA_DIR/secret.key in the backup instead.',
      ),
    );
  } else {
    findings.push(ok('SECRET_KEY', secretKey === null ? 'The key is DATA_DIR/secret.key.' : 'Is set.'));
  }
  if (!throttle) {
    findings.push(
      wrong(
        'THROTTLE',
        'Is off: passwords can be guessed without limit.',
        'Remove THROTTLE=off; it is for load tests only.',
      ),
    );
  }
  return findings;
}
