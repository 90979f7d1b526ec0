/** Writes lists of annotations as a stream of GeoJSON text, so that a large layer is never in memory as a whole. */
import { geoJsonType, type listAnnotations, type QueryOf } from '@lamina/contract';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import { changeNumbersOf, type LayerRow } from '../store/annotation-layers.ts';
import * as store from '../store/annotations.ts';
import type { Database } from '../store/database.ts';

/** A list of annotations as a stream of GeoJSON. */
export interface AnnotationList {
  /** Content type. */
  readonly type: string;
  readonly etag: string;
  readonly parts: AsyncIterable<string>;
}

/** The recipient of a list, which determines what the list contains. */
interface Audience {
  /** Part of the ETag, because lists for different audiences differ. */
  readonly key: 'account' | 'visitor';
  readonly textOf: (row: store.ListedAnnotation) => string;
  /** Returns the display names of authors by uid; null: the audience does not learn them. */
  readonly authorsOf: (() => Promise<Readonly<Record<string, string | null>>>) | null;
}

const rowsPerBatch = 2000;

/** Returns a page of the annotations of a layer. @throws AppError invalid_request for an invalid cursor */
export function annotationListOf(
  db: Database,
  layer: LayerRow,
  { bbox, limit, cursor }: QueryOf<typeof listAnnotations>,
  audience: Audience,
): AnnotationList {
  const box = bbox === undefined ? null : boxOf(bbox);
  const after = cursor === undefined ? 0 : decodeCursor(cursor, Number, z.number().int());
  return {
    type: geoJsonType,
    etag: etagOf(layer, JSON.stringify([bbox, limit, cursor, audience.key])),
    parts: listText(db, layer, { box, after, limit: limit ?? null }, audience),
  };
}

/** Parses the query parameter `bbox`: minX,minY,maxX,maxY in pixels of full resolution. */
function boxOf(bbox: string): store.Box {
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = bbox.split(',').map(Number);
  return { minX, minY, maxX, maxY };
}

/**
 * Returns a weak ETag, because the response may be compressed. The ETag contains the time of the last change, because a restored
 * backup gives the layer an earlier version again.
 */
function etagOf({ id, version, updated_at }: LayerRow, query: string): string {
  return `W/"${id}.${version}.${Date.parse(updated_at)}.${Buffer.from(query).toString('base64url')}"`;
}

/** The requested part of a list. */
interface Page {
  /** Only annotations that intersect the box; null: all. */
  readonly box: store.Box | null;
  /** Position of the last annotation of the previous page; 0 for the first page. */
  readonly after: number;
  /** Maximum number of annotations; null: all. */
  readonly limit: number | null;
}

/**
 * Writes a FeatureCollection. The change number of the slide (the id of the slide's last event) is read before the annotations. If an
 * annotation changes during the read, the list may contain its old or new state; in both cases the client gets the change as an event.
 */
async function* listText(
  db: Database,
  layer: LayerRow,
  page: Page,
  { textOf, authorsOf }: Audience,
): AsyncGenerator<string> {
  const changeNo = (await changeNumbersOf(db, [layer.image_id])).get(layer.image_id) ?? 0;
  const authors = authorsOf === null ? {} : await authorsOf();
  const firstMembers = { version: layer.version, event_id: String(changeNo), authors };
  yield `{"type":"FeatureCollection",${JSON.stringify(firstMembers).slice(1, -1)},"features":[`;
  let { after } = page;
  let remaining = page.limit ?? Infinity;
  let separator = '';
  let hasMore = false;
  for (;;) {
    const batchSize = Math.min(rowsPerBatch, remaining);
    // The query reads one row more than the batch, which shows whether more annotations follow.
    const rows = await store.listAnnotations(db, layer.id, { box: page.box, after, limit: batchSize + 1 });
    const batch = rows.slice(0, batchSize);
    let text = '';
    for (const row of batch) {
      text += `${separator}${textOf(row)}`;
      separator = ',';
    }
    yield text;
    after = batch.at(-1)?.position ?? after;
    remaining -= batch.length;
    hasMore = rows.length > batch.length;
    if (!hasMore || remaining === 0) break;
  }
  yield `],"next_cursor":${hasMore ? JSON.stringify(encodeCursor(String(after))) : 'null'}}`;
}
