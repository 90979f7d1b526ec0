/** What has changed in the annotations of a slide since a number of changes, and what of it an account may read. */
import type { AnnotationLayer, User } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import { layerRightsOf } from '../domain/annotation-rights.ts';
import { changeNumbersOf, displayNamesOf, type LayerRow, listAllLayers } from '../store/annotation-layers.ts';
import { type AnnotationRow, listChangedAnnotations } from '../store/annotations.ts';
import type { Database } from '../store/database.ts';
import type { AuditForeignUse } from './audit-foreign-use.ts';
import { featureOf } from './feature-json.ts';
import { layerFor } from './layers.ts';

/** An event in a stream. */
export type AnnotationEvent =
  | { readonly type: 'layer'; readonly data: { readonly layer: Omit<AnnotationLayer, 'counts'> } }
  | { readonly type: 'layer-removed'; readonly data: { readonly layer_id: string } }
  | { readonly type: 'annotations'; readonly data: object };

export interface ImageChanges {
  readonly changeNo: number;
  readonly since: number;
  /** All layers of the slide, deleted ones included. */
  readonly layers: readonly LayerRow[];
  /** Display names of owners and authors. */
  readonly names: ReadonlyMap<string, string | null>;
  /** Changed annotations by layer; null: too many for an event. */
  readonly annotations: ReadonlyMap<string, readonly AnnotationRow[] | null>;
}

export interface ChangeReader {
  /** Reads what several streams of a slide need. */
  since(imageId: string, changeNo: number): Promise<ImageChanges>;
  /** Returns the events for an account, and keeps the set of layers that it knows up to date. */
  eventsFor(
    by: Actor,
    reader: User,
    changes: ImageChanges,
    known: Set<string>,
  ): Promise<readonly AnnotationEvent[]>;
  readableLayers(reader: User, imageId: string): Promise<Set<string>>;
}

/** Limits of an event; a client loads more than that by a list. */
const maxChanges = 500;
const maxChars = 512 * 1024;

export function createChangeReader(
  db: Database,
  foreignUse: Pick<AuditForeignUse, 'recordRead'>,
): ChangeReader {
  async function changedIn(layer: LayerRow, since: number): Promise<readonly AnnotationRow[] | null> {
    const rows = await listChangedAnnotations(db, layer.id, since, maxChanges + 1);
    const chars = rows.reduce((sum, { feature }) => sum + feature.length, 0);
    return rows.length > maxChanges || chars > maxChars ? null : rows;
  }

  return {
    async since(imageId, since) {
      // The number before the rows: what is committed in between is read now and again with the next number.
      const changeNo = (await changeNumbersOf(db, [imageId])).get(imageId) ?? 0;
      const layers = await listAllLayers(db, imageId);
      const annotations = new Map<string, readonly AnnotationRow[] | null>();
      for (const layer of layers) {
        if (layer.change_no > since && layer.deleted_at === null) {
          annotations.set(layer.id, await changedIn(layer, since));
        }
      }
      const authors = [...annotations.values()].flatMap((rows) => rows ?? []).map((row) => row.updated_by);
      const owners = layers.flatMap(({ owner_uid }) => owner_uid ?? []);
      const names = await displayNamesOf(db, [...new Set([...owners, ...authors])]);
      return { changeNo, since, layers, names, annotations };
    },

    async eventsFor(by, reader, { since, layers, names, annotations }, known) {
      const events: AnnotationEvent[] = [];
      const readable = layers.filter(
        (layer) => layer.deleted_at === null && layerRightsOf(reader, layer).read,
      );
      const ids = new Set(readable.map(({ id }) => id));
      for (const id of known) {
        if (ids.has(id)) continue;
        known.delete(id);
        events.push({ type: 'layer-removed', data: { layer_id: id } });
      }
      for (const layer of readable) {
        const isNew = !known.has(layer.id);
        known.add(layer.id);
        if (layer.change_no <= since && !isNew) continue;
        await foreignUse.recordRead(by, reader, layer);
        const { counts: _, ...described }: AnnotationLayer = layerFor(
          reader,
          layer,
          [],
          names,
          (text) => text.en,
        );
        events.push({ type: 'layer', data: { layer: described } });
        const event = annotationsEvent(layer, annotations.get(layer.id), names);
        if (event !== null) events.push(event);
      }
      return events;
    },

    async readableLayers(reader, imageId) {
      const layers = await listAllLayers(db, imageId);
      const readable = layers.filter(
        (layer) => layer.deleted_at === null && layerRightsOf(reader, layer).read,
      );
      return new Set(readable.map(({ id }) => id));
    },
  };
}

function annotationsEvent(
  layer: LayerRow,
  rows: readonly AnnotationRow[] | null | undefined,
  names: ImageChanges['names'],
): AnnotationEvent | null {
  if (rows === undefined || rows?.length === 0) return null;
  const head = { layer_id: layer.id, version: layer.version };
  if (rows === null) return { type: 'annotations', data: { ...head, reload: true } };
  const changes = rows.map((row) =>
    row.deleted_at === null
      ? { op: 'put', feature: featureOf(row) }
      : { op: 'delete', id: row.id, revision: row.revision, updated_by: row.updated_by },
  );
  const authors: Record<string, string> = {};
  for (const { updated_by: uid } of rows) {
    const name = names.get(uid);
    if (name) authors[uid] = name;
  }
  return { type: 'annotations', data: { ...head, changes, authors } };
}
