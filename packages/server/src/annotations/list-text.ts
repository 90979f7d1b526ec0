/** Lists of annotations as GeoJSON in parts. */
import { geoJsonType, type listAnnotations, type QueryOf } from '@lamina/contract';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import { changeNumbersOf, type LayerRow } from '../store/annotation-layers.ts';
import * as store from '../store/annotations.ts';
import type { Database } from '../store/database.ts';

/** A list of annotations as a stream of GeoJSON; null: the client has it already. */
export interface AnnotationList {
  readonly type: string;
  readonly etag: string;
  readonly parts: AsyncIterable<string>;
}

/** Who reads a list. */
interface Audience {
  /** Distinguishes the lists of one audience from those of others in the ETag. */
  readonly key: 'account' | 'visitor';
  readonly textOf: (row: store.ListedAnnotation) => string;
  /** Returns the display names of authors by uid; null: the audience learns no person. */
  readonly authorsOf: (() => Promise<Readonly<Record<string, string | null>>>) | null;
}

/** Rows per query of a list. */
const rowsPerBatch = 2000;

/** @throws AppError invalid_request for a cursor that is not one of these lists */
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

function boxOf(bbox: string): store.Box {
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = bbox.split(',').map(Number);
  return { minX, minY, maxX, maxY };
}

/** Weak, since the response may be compressed. */
function etagOf({ id, version }: LayerRow, query: string): string {
  return `W/"${id}.${version}.${Buffer.from(query).toString('base64url')}"`;
}

interface Part {
  readonly box: store.Box | null;
  /** Position of the last annotation of the previous page. */
  readonly after: number;
  /** Null: all. */
  readonly limit: number | null;
}

/**
 * Writes a FeatureCollection in parts. Version and event id are read before the annotations: what changes meanwhile is
 * perhaps among them, and in the events in any case.
 */
async function* listText(
  db: Database,
  layer: LayerRow,
  part: Part,
  { textOf, authorsOf }: Audience,
): AsyncGenerator<string> {
  const changeNo = (await changeNumbersOf(db, [layer.image_id])).get(layer.image_id) ?? 0;
  const authors = authorsOf === null ? {} : await authorsOf();
  const head = { version: layer.version, event_id: String(changeNo), authors };
  yield `{"type":"FeatureCollection",${JSON.stringify(head).slice(1, -1)},"features":[`;
  let { after } = part;
  let left = part.limit ?? Infinity;
  let separator = '';
  let hasMore = false;
  for (;;) {
    const wanted = Math.min(rowsPerBatch, left);
    // One more row shows whether there is a next page.
    const rows = await store.listAnnotations(db, layer.id, { box: part.box, after, limit: wanted + 1 });
    const batch = rows.slice(0, wanted);
    let text = '';
    for (const row of batch) {
      text += `${separator}${textOf(row)}`;
      separator = ',';
    }
    yield text;
    after = batch.at(-1)?.position ?? after;
    left -= batch.length;
    hasMore = rows.length > batch.length;
    if (!hasMore || left === 0) break;
  }
  yield `],"next_cursor":${hasMore ? JSON.stringify(encodeCursor(String(after))) : 'null'}}`;
}
