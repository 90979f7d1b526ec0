import { beforeEach, describe, expect, it } from 'vitest';
import { errorResponse, stubApi } from '../testing/stub-api.ts';
import { openLink, preopenLink } from './share-links.ts';

const opened = {
  session_id: 's'.repeat(43),
  expires_in: 3600,
  title: 'Ders 3',
  items: [],
  free_movement: true,
  show_annotations: false,
};

describe('openLink (opens a share link) after preopenLink (sends the request early)', () => {
  beforeEach(async () => {
    // Discards the unused result of a previous test.
    stubApi({ 'POST /share-links/open': errorResponse('not_found') });
    await openLink({ secret: 'none' });
  });

  it('uses the early request for the first opening of the link', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    preopenLink('secret-1');
    expect(await openLink({ secret: 'secret-1' })).toMatchObject({ title: 'Ders 3' });
    expect(calls).toHaveLength(1);
  });

  it('sends a request when the link is opened a second time', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    preopenLink('secret-1');
    await openLink({ secret: 'secret-1' });
    await openLink({ secret: 'secret-1' });
    expect(calls).toHaveLength(2);
  });

  it('sends its own request when it is called with a password, or with another secret than preopenLink', async () => {
    const calls = stubApi({ 'POST /share-links/open': opened });
    preopenLink('secret-1');
    await openLink({ secret: 'secret-1', password: 'password' });
    preopenLink('secret-1');
    await openLink({ secret: 'secret-2' });
    expect(calls.map(({ body }) => body)).toEqual([
      { secret: 'secret-1' },
      { secret: 'secret-1', password: 'password' },
      { secret: 'secret-1' },
      { secret: 'secret-2' },
    ]);
  });
});
