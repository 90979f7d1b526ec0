/** Tests the stream of server-sent events with which open browsers get changes of annotations. */
import { randomUUID } from 'node:crypto';
import {
  apiBase,
  changeAnnotations,
  createAnnotationLayer,
  deleteAnnotationLayer,
  listAnnotations,
  suspendUser,
  updateAnnotationLayer,
  updateDataset,
} from '@lamina/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LayerRow } from '../store/annotation-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { pointFeature } from '../testing/well-formed-requests.ts';

interface ReceivedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: {
    readonly layer_id?: string;
    readonly layer?: { readonly id: string; readonly name: string };
    readonly changes?: readonly { readonly op: string; readonly feature?: { readonly id: string } }[];
  };
}

interface OpenStream {
  readonly events: ReceivedEvent[];
  /** Time (`performance.now`) at which the server ended the stream; null while it is open. */
  endedAt: number | null;
}

describe.each(databaseKinds)('SSE stream of annotation events of a slide (database: %s)', (database) => {
  let server: TestServer;
  let address: string;
  let owner: TestUser;
  let colleague: TestUser;
  let layer: LayerRow;
  let imageId: string;

  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
    address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  }, 60_000);
  afterAll(() => server.close());
  beforeEach(async () => {
    owner = await server.fixtures.user({ displayName: 'Deniz Kaya' });
    colleague = await server.fixtures.user();
    imageId = (await server.fixtures.image({ dataset_name: `Set ${randomUUID()}`, width: 100, height: 100 }))
      .id;
    layer = await server.fixtures.layer({ owner_uid: owner.uid, image_id: imageId });
  });

  interface StreamRequest {
    readonly lastEventId?: string | undefined;
    /** Accept-Language header. */
    readonly language?: string;
    /** Query of the URL with its question mark. */
    readonly query?: string;
  }

  /** Opens the event stream of the slide. The end of the test closes it. */
  async function openStream(
    account: TestUser,
    { lastEventId, language, query = '' }: StreamRequest = {},
  ): Promise<OpenStream> {
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const response = await fetch(
      `${address}${apiBase}/image-catalog/images/${imageId}/annotation-events${query}`,
      {
        headers: {
          authorization: `Bearer ${await server.fixtures.token(account)}`,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
          ...(language !== undefined && { 'accept-language': language }),
        },
        signal: controller.signal,
      },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const stream: OpenStream = { events: [], endedAt: null };
    void collect(response, stream).catch(() => undefined);
    return stream;
  }

  /** Adds the events of a response to a stream until the response ends. */
  async function collect({ body }: Response, stream: OpenStream): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const part of body ?? []) {
      text += decoder.decode(part as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 2)]),
        );
        if (!fields.event) continue;
        const data = JSON.parse(fields.data ?? '') as ReceivedEvent['data'];
        stream.events.push({ event: fields.event, id: fields.id ?? '', data });
      }
    }
    stream.endedAt = performance.now();
  }

  const putChange = (feature: object) => ({ changes: [{ op: 'put', feature, base_revision: null }] });
  const draw = (feature = pointFeature(), client = server.as(owner)) =>
    client.call(changeAnnotations, { params: { layerId: layer.id }, body: putChange(feature) });
  const waitUntil = (check: () => void, timeout = 1000) => vi.waitFor(check, { timeout, interval: 20 });

  it('sends to one account, within a second, an annotation change that another account makes', async () => {
    const stream = await openStream(colleague);
    const feature = pointFeature();
    await draw(feature);
    await waitUntil(() =>
      expect(stream.events).toMatchObject([
        { event: 'layer', data: { layer: { id: layer.id } } },
        {
          event: 'annotations',
          data: {
            layer_id: layer.id,
            changes: [{ op: 'put', feature: { id: feature.id } }],
            authors: { [owner.uid]: 'Deniz Kaya' },
          },
        },
      ]),
    );
  });

  it('sends, to a Turkish reader, “Silinmiş hesap” (deleted account) as the owner of a layer whose account was deleted', async () => {
    const shared = await server.fixtures.layer({ owner_uid: null, image_id: imageId });
    const stream = await openStream(colleague, { language: 'tr' });
    const admin = server.as(await server.fixtures.admin());
    const body = { name: 'B', version: shared.version };
    expect((await admin.call(updateAnnotationLayer, { params: { layerId: shared.id }, body })).status).toBe(
      200,
    );
    await waitUntil(() =>
      expect(stream.events).toMatchObject([
        { event: 'layer', data: { layer: { id: shared.id, owner_name: 'Silinmiş hesap' } } },
      ]),
    );
  });

  it('sends a change made in another server process within a second', async () => {
    const stream = await openStream(colleague);
    const otherServer = await server.another();
    const feature = pointFeature();
    await draw(feature, otherServer.as(await server.fixtures.token(owner)));
    await waitUntil(() => expect(JSON.stringify(stream.events)).toContain(feature.id));
  });

  it('sends only the changes after the event whose id is in the header Last-Event-ID', async () => {
    const firstStream = await openStream(colleague);
    const [firstFeature, secondFeature] = [pointFeature(), pointFeature()];
    await draw(firstFeature);
    await waitUntil(() => expect(firstStream.events).toHaveLength(2));
    await draw(secondFeature);
    const resumedStream = await openStream(colleague, { lastEventId: firstStream.events[1]?.id });
    await waitUntil(() => expect(JSON.stringify(resumedStream.events)).toContain(secondFeature.id));
    expect(JSON.stringify(resumedStream.events)).not.toContain(firstFeature.id);
  });

  it('sends the changes since the event in Last-Event-ID and ends at once when the request has wait=0', async () => {
    await draw();
    const stream = await openStream(colleague, { lastEventId: '0', query: '?wait=0' });
    await waitUntil(() => expect(stream.endedAt).not.toBeNull(), 3000);
    expect(stream.events.map(({ event }) => event)).toEqual(['layer', 'annotations']);
  });

  it('reports layers that were deleted or made private since the event in Last-Event-ID, but no layer that the account could never read', async () => {
    const [hidden, neverShared] = [
      await server.fixtures.layer({ owner_uid: owner.uid, image_id: imageId }),
      await server.fixtures.layer({ owner_uid: owner.uid, image_id: imageId, visibility: 'private' }),
    ];
    const list = await server.as(colleague).call(listAnnotations, { params: { layerId: layer.id } });
    const { event_id: lastEventId } = JSON.parse(String(list.body)) as { readonly event_id: string };
    const client = server.as(owner);
    await client.call(deleteAnnotationLayer, { params: { layerId: layer.id } });
    const paramsOf = ({ id }: LayerRow) => ({ params: { layerId: id } });
    await client.call(updateAnnotationLayer, {
      ...paramsOf(hidden),
      body: { visibility: 'private', version: 1 },
    });
    await client.call(updateAnnotationLayer, { ...paramsOf(hidden), body: { name: 'B', version: 2 } });
    await client.call(updateAnnotationLayer, { ...paramsOf(neverShared), body: { name: 'B', version: 1 } });
    const removedIds = async (account: TestUser, after: string) => {
      const stream = await openStream(account, { lastEventId: after, query: '?wait=0' });
      await waitUntil(() => expect(stream.endedAt).not.toBeNull(), 3000);
      return stream.events.flatMap(({ event, data }) => (event === 'layer-removed' ? data.layer_id : []));
    };
    expect(new Set(await removedIds(colleague, lastEventId))).toEqual(new Set([layer.id, hidden.id]));
    expect(await removedIds(owner, lastEventId)).toEqual([layer.id]);
    const lastChangeNo = String(Number(lastEventId) + 4);
    expect(await removedIds(colleague, lastChangeNo)).toEqual([]);
  });

  it('sends an event when the owner shares a layer, makes it private or deletes it, and no event about a layer while the layer is private', async () => {
    const stream = await openStream(colleague);
    const client = server.as(owner);
    const created = await client.call(createAnnotationLayer, { params: { imageId }, body: { name: 'Mine' } });
    const params = { layerId: created.body.id };
    await draw();
    await waitUntil(() => expect(stream.events).toHaveLength(2));
    expect(JSON.stringify(stream.events)).not.toContain(created.body.id);
    await client.call(updateAnnotationLayer, { params, body: { visibility: 'members', version: 1 } });
    await waitUntil(() => expect(stream.events.at(-1)?.data.layer?.name).toBe('Mine'));
    await client.call(updateAnnotationLayer, { params, body: { visibility: 'private', version: 2 } });
    await waitUntil(() =>
      expect(stream.events.at(-1)).toMatchObject({
        event: 'layer-removed',
        data: { layer_id: created.body.id },
      }),
    );
    await client.call(deleteAnnotationLayer, { params: { layerId: layer.id } });
    await waitUntil(() =>
      expect(stream.events.at(-1)).toMatchObject({ event: 'layer-removed', data: { layer_id: layer.id } }),
    );
  });

  it('ends within a second after the account of its reader is suspended, without sending later changes', async () => {
    const stream = await openStream(colleague);
    await server.as(await server.fixtures.admin()).call(suspendUser, { params: { uid: colleague.uid } });
    const start = performance.now();
    await draw();
    await waitUntil(() => expect(stream.endedAt).not.toBeNull(), 3000);
    expect((stream.endedAt ?? Infinity) - start).toBeLessThan(1000);
    expect(stream.events).toEqual([]);
  });

  it('ends within a second after the dataset of the slide is restricted, when the reader has no grant', async () => {
    const stream = await openStream(colleague);
    const { body } = await server
      .as(await server.fixtures.admin())
      .inject({ url: `/image-catalog/images/${imageId}` });
    const dataset = (body as { image: { dataset_name: string } }).image.dataset_name;
    await server
      .as(await server.fixtures.admin())
      .call(updateDataset, { body: { dataset, access: 'restricted' } });
    const start = performance.now();
    await waitUntil(() => expect(stream.endedAt).not.toBeNull(), 3000);
    expect((stream.endedAt ?? Infinity) - start).toBeLessThan(1000);
  });
});
