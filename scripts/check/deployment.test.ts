/** Tests the files for deployment: nginx and systemd accept them, and the Dockerfile copies all files that the image needs. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../launcher/runtime.mjs';
import { findCommand } from '../services/find-command.ts';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const nginx = findCommand('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null);
const openssl = findCommand('openssl');
const systemdAnalyze = findCommand('systemd-analyze');

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lamina-delivery-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('nginx configuration in deploy/', () => {
  it.skipIf(!nginx || !openssl)('passes nginx -t, including TLS', () => {
    const folder = newFolder();
    const name = ['-subj', '/CN=slides.example.org'];
    const key = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')];
    execFileSync(
      openssl ?? '',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...name, ...key],
      {
        stdio: 'ignore',
      },
    );
    // Replaces paths and host names that exist only where the product is deployed.
    const site = textOf('deploy/nginx.conf')
      .replaceAll('/etc/nginx/tls', folder)
      .replaceAll('/var/log/nginx', folder)
      .replaceAll(/server lamina-(\d):3000/g, 'server 127.0.0.1:300$1'); // nginx resolves names when it starts
    const sites = join(folder, 'conf.d');
    mkdirSync(sites);
    writeFileSync(join(sites, 'lamina.conf'), site);
    const settings = textOf('deploy/nginx.main.conf')
      .replaceAll('/etc/nginx/conf.d', sites)
      .replaceAll('/var/log/nginx', folder)
      .replaceAll('/run/', `${folder}/`)
      .replace(/^user .*\n/m, ''); // Debian's nginx has no such user
    writeFileSync(join(folder, 'nginx.conf'), settings);
    const errors = ['-e', join(folder, 'error.log')];
    const { status, stderr } = spawnSync(nginx ?? '', ['-t', '-c', join(folder, 'nginx.conf'), ...errors], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('syntax is ok');
    expect(status).toBe(0);
  });

  it('writes neither query strings nor the ids of image sessions, the credentials for tiles, to the access log', () => {
    const config = textOf('deploy/nginx.conf');
    const [format] = /log_format lamina [^;]*;/.exec(config) ?? [];
    expect(format).toContain('$lamina_logged_path');
    expect(format).not.toMatch(/\$(request_uri|request|args|query_string|http_referer|uri)\b/);
    // The patterns of the map that shortens paths, for example `"~^/path/" hidden;`.
    const [revokedPath, iiifPath] = [...config.matchAll(/"~(\S+)" \S+;/g)].map(
      ([, pattern = '']) => new RegExp(pattern),
    );
    expect('/api/v1/auth/image-session/gIZp6nYVXb').toMatch(revokedPath as RegExp);
    expect('/api/v1/auth/image-session').not.toMatch(revokedPath as RegExp);
    expect('/api/v1/auth/image-session/stats').not.toMatch(revokedPath as RegExp);
    for (const base of ['', '/api/v1']) {
      expect(`${base}/iiif/session/gIZp6nYVXb/image/a/info.json`).toMatch(iiifPath as RegExp);
      expect(`${base}/iiif/image/a/info.json`).not.toMatch(iiifPath as RegExp);
    }
    expect(config).toMatch(/error_log \S+ crit;/);
  });
});

describe('systemd unit deploy/lamina.service', () => {
  it.skipIf(!systemdAnalyze)('is valid and has a security exposure of at most 2.5', () => {
    const folder = newFolder();
    // The Node of the unit is not installed here, so another executable file replaces it.
    const unit = textOf('deploy/lamina.service').replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    writeFileSync(join(folder, 'lamina.service'), unit);
    const file = join(folder, 'lamina.service');
    const { stderr } = spawnSync(systemdAnalyze ?? '', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('lamina.service'))).toEqual([]);
    const threshold = '--threshold=25'; // in tenths: an exposure level of 2.5
    const { status } = spawnSync(systemdAnalyze ?? '', ['security', '--offline=true', threshold, file]);
    expect(status).toBe(0);
  });
});

describe('Dockerfile', () => {
  it('copies only files that exist in the repository', () => {
    const sources = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, list]) =>
      (list ?? '').split(' '),
    );
    expect(sources).toContain('package-lock.json');
    for (const source of sources) expect(existsSync(join(root, source)), source).toBe(true);
  });

  it('copies the package.json of every workspace, which npm ci needs', () => {
    const [installStage = ''] = textOf('Dockerfile').split('AS web');
    const { workspaces } = JSON.parse(textOf('package.json')) as { workspaces: string[] };
    expect(workspaces).toEqual(['packages/*']);
    for (const name of readdirSync(join(root, 'packages'))) {
      expect(installStage).toContain(`packages/${name}/package.json`);
    }
  });
});
