/** What is delivered beside the program: nginx and systemd take it, and the image has what it is built from. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { onPath } from './chromium.mjs';
import { root } from './runtime.mjs';

const textOf = (file) => readFileSync(join(root, file), 'utf8');
const nginx = onPath('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null);
const openssl = onPath('openssl');
const analyze = onPath('systemd-analyze');

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'lamina-delivery-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('deploy/nginx.conf and nginx.main.conf', () => {
  it.skipIf(!nginx || !openssl)('are taken by nginx, TLS included', () => {
    const folder = newFolder();
    const name = ['-subj', '/CN=slides.example.org'];
    const key = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')];
    execFileSync(openssl, ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...name, ...key], {
      stdio: 'ignore',
    });
    const site = textOf('deploy/nginx.conf')
      .replaceAll('/etc/nginx/tls', folder)
      .replaceAll('/var/log/nginx', folder)
      .replaceAll(/server lamina-(\d):3000/g, 'server 127.0.0.1:300$1'); // names are looked up at once
    const sites = join(folder, 'conf.d');
    mkdirSync(sites);
    writeFileSync(join(sites, 'lamina.conf'), site);
    const settings = textOf('deploy/nginx.main.conf')
      .replaceAll('/etc/nginx/conf.d', sites)
      .replaceAll('/var/log/nginx', folder)
      .replaceAll('/run/', `${folder}/`)
      .replace(/^user .*\n/m, ''); // there is no such user where nginx came from Debian
    writeFileSync(join(folder, 'nginx.conf'), settings);
    const errors = ['-e', join(folder, 'error.log')];
    const { status, stderr } = spawnSync(nginx, ['-t', '-c', join(folder, 'nginx.conf'), ...errors], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('syntax is ok');
    expect(status).toBe(0);
  });

  it('log no address with what follows the question mark, and no image session in a path', () => {
    const config = textOf('deploy/nginx.conf');
    const [format] = /log_format lamina [^;]*;/.exec(config) ?? [];
    expect(format).toContain('$lamina_logged_path');
    expect(format).not.toMatch(/\$(request_uri|request|args|query_string|http_referer|uri)\b/);
    const [, pattern = ''] = /"~(\S+)" \S+;/.exec(config) ?? [];
    const hidden = new RegExp(pattern);
    expect('/api/v1/auth/image-session/gIZp6nYVXb').toMatch(hidden);
    expect('/api/v1/auth/image-session').not.toMatch(hidden);
    expect('/api/v1/auth/image-session/stats').not.toMatch(hidden);
    expect(config).toMatch(/error_log \S+ crit;/);
  });
});

describe('deploy/lamina.service', () => {
  it.skipIf(!analyze)('is taken by systemd, and keeps the service to itself', () => {
    const folder = newFolder();
    // Whatever can be run stands in for the Node that is not installed there.
    const unit = textOf('deploy/lamina.service').replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    writeFileSync(join(folder, 'lamina.service'), unit);
    const file = join(folder, 'lamina.service');
    const { stderr } = spawnSync(analyze, ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('lamina.service'))).toEqual([]);
    const { status } = spawnSync(analyze, ['security', '--offline=true', '--threshold=25', file]);
    expect(status).toBe(0);
  });
});

describe('the image', () => {
  it('is made of what is there', () => {
    const sources = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, list]) =>
      list.split(' '),
    );
    expect(sources).toContain('package-lock.json');
    for (const source of sources) expect(existsSync(join(root, source)), source).toBe(true);
  });

  it('has every package of the workspace, so that the lock file can be kept to', () => {
    const [first = ''] = textOf('Dockerfile').split('AS web');
    const { workspaces } = JSON.parse(textOf('package.json'));
    expect(workspaces).toEqual(['packages/*']);
    for (const name of ['contract', 'server', 'slide', 'web']) {
      expect(first).toContain(`packages/${name}/package.json`);
    }
  });
});
