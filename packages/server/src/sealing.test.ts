import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSealing } from './sealing.ts';

function folder(): string {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-sealing-'));
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true }));
  return dataDir;
}

describe('what is sealed', () => {
  it('is opened with the same key, also after a restart', () => {
    const dataDir = folder();
    const sealed = createSealing({ dataDir, secretKey: null }).seal('gizli şey', 'a letter');
    expect(sealed).not.toContain('gizli');
    expect(createSealing({ dataDir, secretKey: null }).open(sealed, 'a letter')).toBe('gizli şey');
  });

  it('differs each time', () => {
    const sealing = createSealing({ dataDir: folder(), secretKey: null });
    expect(sealing.seal('x', 'y')).not.toBe(sealing.seal('x', 'y'));
  });

  it('is not opened for another purpose, with another key, or changed', () => {
    const sealing = createSealing({ dataDir: folder(), secretKey: null });
    const sealed = sealing.seal('gizli', 'of ayşe');
    expect(() => sealing.open(sealed, 'of deniz')).toThrow();
    expect(() => createSealing({ dataDir: folder(), secretKey: null }).open(sealed, 'of ayşe')).toThrow();
    for (let i = 0; i < sealed.length; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
      if (Buffer.from(changed, 'base64url').equals(Buffer.from(sealed, 'base64url'))) continue; // unused bits
      expect(() => sealing.open(changed, 'of ayşe')).toThrow();
    }
  });

  it('is opened by every machine that has the key of the settings, and then no key file is made', () => {
    const [here, there] = [folder(), folder()];
    const secretKey = 'a long and random text of the settings';
    const sealed = createSealing({ dataDir: here, secretKey }).seal('gizli', 'x');
    expect(createSealing({ dataDir: there, secretKey }).open(sealed, 'x')).toBe('gizli');
    expect(fs.readdirSync(here)).toEqual([]);
  });

  it('has a key that nobody but the owner of the folder can read', () => {
    const dataDir = folder();
    createSealing({ dataDir, secretKey: null });
    expect(fs.readdirSync(dataDir)).toEqual(['secret.key']);
    expect(fs.statSync(path.join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
  });
});
