import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { recordSettings } from './settings-entry.ts';

const entriesOf = async ({ services }: Awaited<ReturnType<typeof testServer>>) =>
  (
    await services.db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'settings-changed')
      .orderBy('seq')
      .execute()
  ).map(({ detail }) => JSON.parse(detail) as Record<string, unknown>);

describe('the settings of a start', () => {
  it('go on record at the first start, and not again as long as they stay', async () => {
    const server = await testServer();
    await recordSettings(server.services, server.config);
    await recordSettings(server.services, server.config);
    expect(await entriesOf(server)).toMatchObject([{ imageSessionTtlSeconds: 3600, demo: false }]);
  });

  it('go on record when one has changed, by its name', async () => {
    const server = await testServer();
    await recordSettings(server.services, server.config);
    await recordSettings(server.services, { ...server.config, imageSessionTtlSeconds: 60 });
    await recordSettings(server.services, { ...server.config, imageSessionTtlSeconds: 60 });
    const [, changed, ...others] = await entriesOf(server);
    expect(others).toEqual([]);
    expect(changed).toMatchObject({ imageSessionTtlSeconds: 60, changed: 'imageSessionTtlSeconds' });
  });

  it('say of a secret that it is set, and no more', async () => {
    const server = await testServer();
    const secrets = {
      adminEmail: 'first@example.org',
      adminPassword: 'bir-yönetici-şifresi',
      smtpUrl: 'smtp://user:mail-password@mail.example.org',
      databaseUrl: 'postgres://user:data-password@db.example.org/lamina',
      publicUrl: 'https://user:url-password@example.org/lamina',
    };
    await recordSettings(server.services, { ...server.config, ...secrets });
    const entries = await entriesOf(server);
    expect(entries).toMatchObject([
      { adminPassword: 'set', smtpUrl: 'set', databaseUrl: 'set', publicUrl: 'https://example.org/lamina' },
    ]);
    const told = JSON.stringify(entries);
    for (const secret of ['first@', 'şifre', 'mail-password', 'data-password', 'url-password']) {
      expect(told).not.toContain(secret);
    }
  });
});
