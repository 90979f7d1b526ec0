/** Generated annotations for the benchmarks, and the annotation layers (sets of annotations of a slide) that contain them. */
import { randomUUID } from 'node:crypto';
import { callApi } from '../../services/api-client.ts';

export interface GeneratedFeature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: { readonly type: 'Polygon'; readonly coordinates: readonly (readonly number[][])[] };
  readonly properties: object;
}

/** Annotation classes with their colours in sRGB. */
const classes = [
  { name: 'Tumor', color: [200, 0, 0] },
  { name: 'Stroma', color: [150, 200, 150] },
  { name: 'Necrosis', color: [50, 50, 50] },
];

/** Returns a round annotation with 12 waves at its edge. Centre (x, y) and mean radius: pixels of full resolution. */
export function outline(
  x: number,
  y: number,
  radius: number,
  vertices: number,
  id: string = randomUUID(),
): GeneratedFeature {
  const ring = Array.from({ length: vertices }, (_, i) => {
    const angle = (2 * Math.PI * i) / vertices;
    const distance = radius * (1 + 0.05 * Math.sin(angle * 12));
    return [
      Math.round((x + distance * Math.cos(angle)) * 100) / 100,
      Math.round((y + distance * Math.sin(angle)) * 100) / 100,
    ]; // with two decimal places
  });
  return {
    type: 'Feature',
    id,
    geometry: { type: 'Polygon', coordinates: [[...ring, ring[0] ?? []]] },
    properties: { objectType: 'annotation', classification: classes[Math.floor(x + y) % classes.length] },
  };
}

/** A rectangle in the upper left corner of the slide; its size is in pixels of full resolution. */
interface Field {
  readonly width: number;
  readonly height: number;
}

/** Returns `count` outlines, each of `vertices` vertices, in rows that fill a field without overlaps. */
export function outlinesIn({ width, height }: Field, count: number, vertices: number): GeneratedFeature[] {
  const columns = Math.ceil(Math.sqrt((count * width) / height));
  const step = width / columns;
  return Array.from({ length: count }, (_, i) =>
    outline((0.5 + (i % columns)) * step, (0.5 + Math.floor(i / columns)) * step, step * 0.4, vertices),
  );
}

/** A slide of a running product: base URL, bearer token and image id. */
interface Target {
  readonly url: string;
  readonly token: string;
  readonly imageId: string;
}

/** Creates a layer that all members may see and change. @returns the id of the layer */
export async function makeLayer(
  { url, token, imageId }: Target,
  features: readonly GeneratedFeature[],
): Promise<string> {
  const path = `/image-catalog/images/${imageId}/annotation-layers`;
  const body = { name: 'Bench', visibility: 'members', editing: 'members' };
  const { id } = await callApi<{ id: string }>(url, 'POST', path, { token, body });
  const batchSize = 1000; // the most changes that the server accepts in one request
  for (let start = 0; start < features.length; start += batchSize) {
    const changes = features
      .slice(start, start + batchSize)
      .map((feature) => ({ op: 'put', feature, base_revision: null }));
    await callApi(url, 'POST', `/annotation-layers/${id}/changes`, { token, body: { changes } });
  }
  return id;
}

/** Deletes all layers of the slide. */
export async function clearLayers({ url, token, imageId }: Target): Promise<void> {
  const path = `/image-catalog/images/${imageId}/annotation-layers`;
  const { layers } = await callApi<{ layers: { id: string }[] }>(url, 'GET', path, { token });
  for (const { id } of layers) {
    // `callApi` cannot be used, because the response (204) has no body.
    await fetch(`${url}/api/v1/annotation-layers/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
  }
}
