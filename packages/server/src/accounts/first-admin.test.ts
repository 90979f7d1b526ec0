import fs from 'node:fs';
import path from 'node:path';
import { getProfile, listUsers as listUsersEndpoint } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { listUsers } from '../store/users.ts';
import { testServer } from '../testing/test-server.ts';
import { ensureFirstAdmin, restoreAdmin } from './first-admin.ts';

describe.each(databaseKinds)('ensureFirstAdmin at the start of the server (database: %s)', (database) => {
  it('creates an administrator with a random password, stored in a file that only the owner can read', async () => {
    const { services, config, as, clock } = await testServer({ database });
    const firstAdmin = await ensureFirstAdmin(services);
    const file = path.join(config.dataDir, 'first-admin.txt');
    expect(firstAdmin).toEqual({
      email: 'admin@lamina.local',
      password: expect.any(String),
      passwordFile: file,
    });
    expect(firstAdmin?.password).toMatch(/^\w{5}(-\w{5}){3}$/);
    expect(fs.readFileSync(file, 'utf8')).toBe(`admin@lamina.local\n${firstAdmin?.password}\n`);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);

    const [stored] = await listUsers(services.db);
    expect(stored).toMatchObject({
      status: 'active',
      role: 'admin',
      adminApproved: true,
      approvalDate: clock.now().toISOString(),
    });
    const admin = { ...stored, password: firstAdmin?.password } as never;
    expect((await as(admin).call(listUsersEndpoint)).status).toBe(200);
    expect(await services.db.selectFrom('audit').selectAll().execute()).toMatchObject([
      { action: 'first-admin-made', actor_uid: null, target: stored?.uid },
      { action: 'sign-in' },
    ]);
  });

  it('creates the administrator that ADMIN_EMAIL and ADMIN_PASSWORD name, and writes no password file', async () => {
    const { services, config, as } = await testServer({
      database,
      config: { adminEmail: 'ayse@example.org', adminPassword: 'bir-parola-1' },
    });
    expect(await ensureFirstAdmin(services)).toEqual({
      email: 'ayse@example.org',
      password: null,
      passwordFile: null,
    });
    expect(fs.existsSync(path.join(config.dataDir, 'first-admin.txt'))).toBe(false);
    const [stored] = await listUsers(services.db);
    const response = await as({ ...stored, password: 'bir-parola-1' } as never).call(getProfile);
    expect(response).toMatchObject({ status: 200, body: { user: { role: 'admin' } } });
  });

  it('throws an error and creates no account when ADMIN_PASSWORD is the very common password "password123"', async () => {
    const { services } = await testServer({
      database,
      config: { adminEmail: 'ayse@example.org', adminPassword: 'password123' },
    });
    await expect(ensureFirstAdmin(services)).rejects.toThrow(
      'ADMIN_PASSWORD is one of the most common passwords',
    );
    expect(await listUsers(services.db)).toEqual([]);
  });

  it('creates no administrator when an account exists', async () => {
    const { services, fixtures } = await testServer({ database });
    await fixtures.user({ status: 'pending' });
    expect(await ensureFirstAdmin(services)).toBeNull();
    expect(await listUsers(services.db)).toHaveLength(1);
  });

  it('creates one administrator and one password file when two processes with different data folders start at the same time', async () => {
    const { services, config } = await testServer({ database });
    const dataDirs = ['one', 'two'].map((name) => path.join(config.dataDir, name));
    const start = (dataDir: string) => ensureFirstAdmin({ ...services, config: { ...config, dataDir } });
    const results = await Promise.all(dataDirs.map(start));
    expect(results.filter((result) => result !== null)).toHaveLength(1);
    expect(await listUsers(services.db)).toHaveLength(1);
    const passwordFiles = dataDirs.filter((dataDir) => fs.existsSync(path.join(dataDir, 'first-admin.txt')));
    expect(passwordFiles).toHaveLength(1);
  });

  it('writes the password of the created administrator to the password file when two processes with one data folder start at the same time', async () => {
    const { services, config } = await testServer({ database });
    const created = await Promise.all([1, 2].map(() => ensureFirstAdmin({ ...services, config })));
    const [admin] = created.filter((each) => each !== null);
    const file = fs.readFileSync(path.join(config.dataDir, 'first-admin.txt'), 'utf8');
    expect(file).toBe(`admin@lamina.local\n${admin?.password}\n`);
  });
});

describe.each(databaseKinds)('restore-admin command (database: %s)', (database) => {
  it('makes a deactivated account an active administrator with a new password, and revokes its tokens', async () => {
    const { services, fixtures, as } = await testServer({ database });
    const admin = await fixtures.admin();
    const token = await fixtures.token(admin);
    await services.db.updateTable('users').set({ status: 'deactivated', role: 'user' }).execute();
    const restored = await restoreAdmin(services, admin.email.toUpperCase());
    expect(restored).toEqual({ email: admin.email, password: expect.any(String), isNew: false });
    expect((await as(token).call(getProfile)).status).toBe(401);
    const response = await as({ ...admin, password: restored.password }).call(getProfile);
    expect(response.body.user).toMatchObject({ uid: admin.uid, status: 'active', role: 'admin' });
    const [, entry] = await services.db.selectFrom('audit').selectAll().orderBy('seq').execute();
    expect(entry).toMatchObject({ action: 'admin-restored', target: admin.uid, actor_uid: null });
    expect(JSON.parse(entry?.detail ?? '')).toEqual({ status_before: 'deactivated', role_before: 'user' });
  });

  it('creates the administrator account when no account has the given e-mail address', async () => {
    const { services, as } = await testServer({ database });
    const restored = await restoreAdmin(services, 'ayse@example.org');
    expect(restored.isNew).toBe(true);
    const [stored] = await listUsers(services.db);
    const response = await as({ ...stored, password: restored.password } as never).call(listUsersEndpoint);
    expect(response.status).toBe(200);
  });
});
