/** Where it listens, what people call it, whom it believes; and who signs people in. */
import { once } from 'node:events';
import net from 'node:net';
import { addressOf, type Config } from '../config.ts';
import { type Finding, note, ok, reasonOf, wrong } from './finding.ts';

const answersWithinMs = 5000;
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

export async function checkPorts(
  config: Pick<Config, 'host' | 'port' | 'metricsHost' | 'metricsPort'>,
): Promise<Finding[]> {
  const findings = [await checkPort(config.host, config.port, 'PORT', '/health/live')];
  if (config.metricsPort !== null) {
    findings.push(await checkPort(config.metricsHost, config.metricsPort, 'METRICS_PORT', '/metrics'));
    if (!loopback.test(config.metricsHost)) {
      findings.push(
        note(
          'Metrics',
          `METRICS_HOST=${config.metricsHost}: whoever reaches that address reads them.`,
          'See that only your monitoring does, by a firewall or an inner network.',
        ),
      );
    }
  }
  return findings;
}

async function checkPort(host: string, port: number, setting: string, ours: string): Promise<Finding> {
  const subject = setting === 'PORT' ? 'Port' : 'Metrics port';
  if (port === 0) return ok(subject, 'Any that is free.');
  const server = net.createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    return ok(subject, `${port} at ${host} is free.`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const isOurs = await answers(`${addressOf(host, port)}${ours}`);
      if (isOurs) return ok(subject, `${port} at ${host}: Lamina is running there.`);
      return wrong(
        subject,
        `${port} at ${host} is in use by another program.`,
        `End that program, or choose another ${setting}.`,
      );
    }
    if (code === 'EACCES') {
      return wrong(
        subject,
        `${setting}=${port} may not be used without special rights.`,
        'Choose a port above 1023, and let a reverse proxy answer at 443.',
      );
    }
    return wrong(
      subject,
      `Nothing can listen at ${host}:${port}: ${reasonOf(error)}.`,
      'Set HOST to an address of this machine, 127.0.0.1 behind a proxy on it, or 0.0.0.0 for all.',
    );
  }
}

async function answers(address: string): Promise<boolean> {
  try {
    return (await fetch(address, { signal: AbortSignal.timeout(answersWithinMs) })).ok;
  } catch {
    return false;
  }
}

export function checkAddresses(
  config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'trustedProxies' | 'imageSessionCookie'>,
): Finding[] {
  const { publicUrl, host, port, trustedProxies } = config;
  const address = new URL(publicUrl ?? addressOf(host, port));
  const isHere = loopback.test(address.hostname);
  const isSafe = address.protocol === 'https:';
  const findings: Finding[] = [];
  if (isHere && !loopback.test(host)) {
    findings.push(
      wrong(
        'PUBLIC_URL',
        `Others reach this server (HOST=${host}), but letters and redirects name ${address.origin}.`,
        'Set PUBLIC_URL to the address that people type.',
      ),
    );
  } else if (!isHere && !isSafe) {
    findings.push(
      wrong(
        'PUBLIC_URL',
        `${address.origin} is not encrypted: passwords and slides can be read on the way.`,
        'Put a reverse proxy with a certificate in front (deploy/nginx.conf), and begin PUBLIC_URL with https://.',
      ),
    );
  } else findings.push(ok('PUBLIC_URL', `${address.origin}${isHere ? ', on this machine alone' : ''}.`));
  if (config.imageSessionCookie === 'strict' && !isSafe) {
    findings.push(
      wrong(
        'IMAGE_SESSION_COOKIE',
        'strict needs https: a browser sends this cookie over nothing else.',
        'Begin PUBLIC_URL with https://, or set IMAGE_SESSION_COOKIE=off.',
      ),
    );
  }
  return [...findings, checkProxies(trustedProxies, isSafe)];
}

function checkProxies(proxies: readonly string[], isSafe: boolean): Finding {
  const subject = 'TRUSTED_PROXIES';
  const unreadable = proxies.filter((proxy) => !isNetwork(proxy));
  if (unreadable.length > 0) {
    return wrong(
      subject,
      `"${unreadable.join(', ')}" is neither an address nor a network.`,
      'Name addresses or networks, as in 10.0.0.5 or 10.0.0.0/24, not host names.',
    );
  }
  if (proxies.some((proxy) => /\/0$/.test(proxy))) {
    return wrong(
      subject,
      'Everybody is believed: anyone may claim any address, in the audit trail and before the throttle.',
      'Name the proxy alone.',
    );
  }
  if (proxies.length > 0) return ok(subject, `${proxies.join(', ')}.`);
  return isSafe
    ? wrong(
        subject,
        'PUBLIC_URL is https, so a proxy stands in front, but none is named: everybody seems to come from its address.',
        'Name the address from which the proxy comes, as in TRUSTED_PROXIES=127.0.0.1.',
      )
    : ok(subject, 'None, and none seems to be needed.');
}

function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits] = text.split('/');
  const kind = net.isIP(address);
  if (kind === 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128));
}

export async function checkProvider({ signIn: { external } }: Pick<Config, 'signIn'>): Promise<Finding[]> {
  if (external === null) return [];
  const address = `${external.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const advice = 'Set OIDC_ISSUER exactly as the provider writes it, and see that this machine reaches it.';
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(answersWithinMs) });
    const { issuer } = (await answer.json()) as { issuer?: unknown };
    if (issuer === external.issuer) return [ok('Sign-in provider', `${external.issuer} answers.`)];
    return [wrong('Sign-in provider', `${address} calls itself "${String(issuer)}".`, advice)];
  } catch (error) {
    return [
      wrong('Sign-in provider', `${address} does not answer as it should: ${reasonOf(error)}.`, advice),
    ];
  }
}

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
        'Is not set: each server makes a key of its own, and none can open what another has sealed in the database they share.',
        'Set the same SECRET_KEY for all servers (openssl rand -base64 32). With one server, keep DATA_DIR/secret.key in the backup instead.',
      ),
    );
  } else {
    findings.push(
      ok('SECRET_KEY', secretKey === null ? 'A key of its own in DATA_DIR/secret.key.' : 'Is set.'),
    );
  }
  if (!throttle) {
    findings.push(
      wrong(
        'THROTTLE',
        'Is off: passwords can be tried without end.',
        'Remove THROTTLE=off; it is for measuring alone.',
      ),
    );
  }
  return findings;
}
