import { afterEach, expect, it, vi } from 'vitest';
import { stubApi } from '../../testing/stub-api.ts';
import type { AnnotationStore } from './annotation-store.ts';
import { followAnnotations } from './follow-annotations.ts';

const connection = new AbortController();
afterEach(() => connection.abort());

it('followAnnotations (changes of other users) starts a new event stream after an event that it cannot read, and reloads the layers that have changed', async () => {
  const lastEventIds: (string | null)[] = [];
  const layers = { layers: [] };
  stubApi({ 'GET /image-catalog/images/image/annotation-layers': layers });
  const stubbedFetch = fetch;
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    if (!url.endsWith('/annotation-events')) return stubbedFetch(url, request);
    lastEventIds.push(new Headers(request.headers).get('Last-Event-ID'));
    const layerRemoved = 'event: layer-removed\nid: 7\ndata: {"layer_id":"layer"}\n\n';
    const unreadable = 'event: annotations\nid: 8\ndata: {"layer_id":8}\n\n';
    return new Response(lastEventIds.length === 1 ? layerRemoved + unreadable : '', {
      headers: { 'Content-Type': 'text/event-stream' },
    });
  });
  const store = {
    imageId: 'image',
    setLive: () => {},
    setLayers: async () => {},
    removeLayer: vi.fn<AnnotationStore['removeLayer']>(),
    reloadOutdatedLayers: vi.fn<AnnotationStore['reloadOutdatedLayers']>(async () => {}),
  };
  void followAnnotations(store as unknown as AnnotationStore, 'me', connection.signal);
  await vi.waitUntil(() => lastEventIds.length === 2, { timeout: 5000 });
  expect(store.removeLayer).toHaveBeenCalledWith('layer');
  expect(lastEventIds).toEqual([null, null]);
  await vi.waitFor(() => expect(store.reloadOutdatedLayers).toHaveBeenCalledTimes(2));
});
