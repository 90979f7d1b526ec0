import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { recordSettingsChange } from './settings-event.ts';

/** Returns the details of the settings-changed events, oldest first. */
const entriesOf = async ({ services }: Awaited<ReturnType<typeof testServer>>) =>
  (
    await services.db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'settings-changed')
      .orderBy('seq')
      .execute()
  ).map(({ detail }) => JSON.parse(detail) as Record<string, unknown>);

describe('recordSettingsChange (audit event about changed server settings)', () => {
  it('writes the event settings-changed at the first start of the server, and no further one while the settings are the same', async () => {
    const server = await testServer();
    await recordSettingsChange(server.services, server.config);
    await recordSettingsChange(server.services, server.config);
    expect(await entriesOf(server)).toMatchObject([{ imageSessionTtlSeconds: 3600, demo: false }]);
  });

  it('names the changed setting in the settings-changed event', async () => {
    const server = await testServer();
    await recordSettingsChange(server.services, server.config);
    await recordSettingsChange(server.services, { ...server.config, imageSessionTtlSeconds: 60 });
    await recordSettingsChange(server.services, { ...server.config, imageSessionTtlSeconds: 60 });
    const [, changed, ...others] = await entriesOf(server);
    expect(others).toEqual([]);
    expect(changed).toMatchObject({ imageSessionTtlSeconds: 60, changed: 'imageSessionTtlSeconds' });
  });

  it('records only whether a secret setting is set, never its value', async () => {
    const server = await testServer();
    const secrets = {
      adminEmail: 'first@example.org',
      adminPassword: 'bir-yönetici-şifresi',
      smtpUrl: 'smtp://user:mail-password@mail.example.org',
      databaseUrl: 'postgres://user:data-password@db.example.org/lamina',
      publicUrl: 'https://user:url-password@example.org/lamina',
    };
    await recordSettingsChange(server.services, { ...server.config, ...secrets });
    const entries = await entriesOf(server);
    expect(entries).toMatchObject([
      { adminPassword: 'set', smtpUrl: 'set', databaseUrl: 'set', publicUrl: 'https://example.org/lamina' },
    ]);
    const recorded = JSON.stringify(entries);
    for (const secret of ['first@', 'şifre', 'mail-password', 'data-password', 'url-password']) {
      expect(recorded).not.toContain(secret);
    }
  });
});
