import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEncryption } from './encryption.ts';

function createDataDir(): string {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-encryption-'));
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true }));
  return dataDir;
}

describe('createEncryption (encryption at rest with a key for each purpose)', () => {
  it('decrypts a text with the key file of the data folder after a restart', () => {
    const dataDir = createDataDir();
    const encrypted = createEncryption({ dataDir, secretKey: null }).encrypt('gizli şey', 'an e-mail');
    expect(encrypted).not.toContain('gizli');
    expect(createEncryption({ dataDir, secretKey: null }).decrypt(encrypted, 'an e-mail')).toBe('gizli şey');
  });

  it('encrypts the same text to a different result at each call', () => {
    const encryption = createEncryption({ dataDir: createDataDir(), secretKey: null });
    expect(encryption.encrypt('x', 'y')).not.toBe(encryption.encrypt('x', 'y'));
  });

  it('throws at decryption when the purpose or the key differs, or the encrypted text was modified', () => {
    const encryption = createEncryption({ dataDir: createDataDir(), secretKey: null });
    const other = createEncryption({ dataDir: createDataDir(), secretKey: null });
    const encrypted = encryption.encrypt('gizli', 'of ayşe');
    expect(() => encryption.decrypt(encrypted, 'of deniz')).toThrow();
    expect(() => other.decrypt(encrypted, 'of ayşe')).toThrow();
    for (let i = 0; i < encrypted.length; i++) {
      const changed = encrypted.slice(0, i) + (encrypted[i] === 'A' ? 'B' : 'A') + encrypted.slice(i + 1);
      if (Buffer.from(changed, 'base64url').equals(Buffer.from(encrypted, 'base64url'))) continue; // the last character has bits that belong to no byte
      expect(() => encryption.decrypt(changed, 'of ayşe')).toThrow();
    }
  });

  it('decrypts on another machine with the same SECRET_KEY, and creates no key file', () => {
    const [dataDir, otherDataDir] = [createDataDir(), createDataDir()];
    const secretKey = 'a long and random text of the settings';
    const encrypted = createEncryption({ dataDir, secretKey }).encrypt('gizli', 'x');
    expect(createEncryption({ dataDir: otherDataDir, secretKey }).decrypt(encrypted, 'x')).toBe('gizli');
    expect(fs.readdirSync(dataDir)).toEqual([]);
  });

  it('derives a secret that differs by key file and purpose, and is the same after a restart', () => {
    const [dataDir, otherDataDir] = [createDataDir(), createDataDir()];
    const secret = createEncryption({ dataDir, secretKey: null }).deriveSecret('UIDs of a slide');
    const restarted = createEncryption({ dataDir, secretKey: null });
    expect(restarted.deriveSecret('UIDs of a slide')).toBe(secret);
    expect(restarted.deriveSecret('UIDs of another slide')).not.toBe(secret);
    const other = createEncryption({ dataDir: otherDataDir, secretKey: null });
    expect(other.deriveSecret('UIDs of a slide')).not.toBe(secret);
  });

  it('creates a key file that only the owner can read', () => {
    const dataDir = createDataDir();
    createEncryption({ dataDir, secretKey: null });
    expect(fs.readdirSync(dataDir)).toEqual(['secret.key']);
    expect(fs.statSync(path.join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
  });
});
