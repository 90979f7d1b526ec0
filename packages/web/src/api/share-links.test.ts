import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, stubApi } from '../testing/stub-api.ts';
import { expectLink, openLink } from './share-links.ts';

const opened = {
  session_id: 's'.repeat(43),
  expires_in: 3600,
  title: 'Ders 3',
  items: [],
  free_movement: true,
  show_annotations: false,
};

describe('a share link that is opened while its page is loading', () => {
  beforeEach(async () => {
    // The result of another test must not be left over.
    stubApi({ 'POST /share-links/open': refusal('not_found') });
    await openLink('none', undefined);
  });

  it('is requested once, and the page uses the result', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    expectLink('secret-1');
    expect(await openLink('secret-1', undefined)).toMatchObject({ title: 'Ders 3' });
    expect(calls).toHaveLength(1);
  });

  it('is requested again for a renewed session', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    expectLink('secret-1');
    await openLink('secret-1', undefined);
    await openLink('secret-1', undefined);
    expect(calls).toHaveLength(2);
  });

  it('is requested again with a password, and for another link', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    expectLink('secret-1');
    await openLink('secret-1', 'password');
    expectLink('secret-1');
    await openLink('secret-2', undefined);
    expect(calls.map(({ body }) => body)).toEqual([
      { secret: 'secret-1' },
      { secret: 'secret-1', password: 'password' },
      { secret: 'secret-1' },
      { secret: 'secret-2' },
    ]);
  });
});
