/**
 * Reads changes to annotations from the database for event streams, and turns them into the events that an account may receive.
 * Each slide has a change number, which grows with every change to its annotations. A stream remembers the number up to which it
 * has sent changes.
 */
import type { AnnotationLayer, User } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import { layerRightsOf } from '../domain/annotation-rights.ts';
import type { Translate } from '../domain/translate.ts';
import { changeNumbersOf, displayNamesOf, type LayerRow, listAllLayers } from '../store/annotation-layers.ts';
import { type AnnotationRow, listChangedAnnotations } from '../store/annotations.ts';
import type { Database } from '../store/database.ts';
import type { AdminAccessAudit } from './admin-access-audit.ts';
import { featureOf } from './feature-json.ts';
import { toAnnotationLayer } from './layers.ts';

/** A server-sent event: `layer` (new or changed), `layer-removed` (the account can no longer read it), or changed `annotations`. */
export type AnnotationEvent =
  | { readonly type: 'layer'; readonly data: { readonly layer: Omit<AnnotationLayer, 'counts'> } }
  | { readonly type: 'layer-removed'; readonly data: { readonly layer_id: string } }
  | { readonly type: 'annotations'; readonly data: object };

/** The changes to a slide's annotations after the change number `since`, up to `changeNo`. */
export interface ImageChanges {
  readonly changeNo: number;
  readonly since: number;
  /** All layers of the slide, deleted ones included. */
  readonly layers: readonly LayerRow[];
  /** Display names of owners and authors by uid; null for an account without a name. */
  readonly names: ReadonlyMap<string, string | null>;
  /** Changed annotations by id of the layer; null: too many for an event, so the client must load the layer again. */
  readonly annotations: ReadonlyMap<string, readonly AnnotationRow[] | null>;
}

export interface EventClient {
  readonly actor: Actor;
  readonly reader: User;
  /** Translates strings of events into the language of the request that opened the stream. */
  readonly translate: Translate;
  /** Ids of the layers that the client may know, see `knownLayerIds`; `eventsFor` updates them. */
  readonly sentLayerIds: Set<string>;
}

export interface ChangeReader {
  /** Reads all changes to a slide's annotations after the change number `since`. Streams of several accounts share the result. */
  readSince(imageId: string, since: number): Promise<ImageChanges>;
  /** Returns the events for a client, updates its `sentLayerIds`, and records the read in the audit log if necessary. */
  eventsFor(client: EventClient, changes: ImageChanges): Promise<readonly AnnotationEvent[]>;
  /**
   * Returns the ids of the layers of a slide that the account may read. Includes layers that it could read at the change
   * number `since`, and that were deleted or made private afterwards, but no permanently deleted layers.
   */
  knownLayerIds(reader: User, imageId: string, since: number): Promise<Set<string>>;
}

/** Limits of one event. If a layer has more changes, the event tells the client to load the whole layer. */
const maxChanges = 500;
const maxChars = 512 * 1024;

export function createChangeReader(
  db: Database,
  adminAccessAudit: Pick<AdminAccessAudit, 'recordRead'>,
): ChangeReader {
  async function listChangesOfLayer(
    layer: LayerRow,
    since: number,
  ): Promise<readonly AnnotationRow[] | null> {
    const rows = await listChangedAnnotations(db, layer.id, since, maxChanges + 1); // one more row shows whether there are too many
    const chars = rows.reduce((sum, { feature }) => sum + feature.length, 0);
    return rows.length > maxChanges || chars > maxChars ? null : rows;
  }

  return {
    async readSince(imageId, since) {
      // The number is read before the rows: a change that is committed in between is sent twice, but never lost.
      const changeNo = (await changeNumbersOf(db, [imageId])).get(imageId) ?? 0;
      const layers = await listAllLayers(db, imageId);
      const annotations = new Map<string, readonly AnnotationRow[] | null>();
      for (const layer of layers) {
        if (layer.change_no > since && layer.deleted_at === null) {
          annotations.set(layer.id, await listChangesOfLayer(layer, since));
        }
      }
      const authors = [...annotations.values()].flatMap((rows) => rows ?? []).map((row) => row.updated_by);
      const owners = layers.flatMap(({ owner_uid }) => owner_uid ?? []);
      const names = await displayNamesOf(db, [...new Set([...owners, ...authors])]);
      return { changeNo, since, layers, names, annotations };
    },

    async eventsFor({ actor, reader, translate, sentLayerIds }, { since, layers, names, annotations }) {
      const events: AnnotationEvent[] = [];
      const readable = layers.filter(
        (layer) => layer.deleted_at === null && layerRightsOf(reader, layer).read,
      );
      const readableIds = new Set(readable.map(({ id }) => id));
      for (const id of sentLayerIds) {
        if (readableIds.has(id)) continue;
        sentLayerIds.delete(id);
        events.push({ type: 'layer-removed', data: { layer_id: id } });
      }
      for (const layer of readable) {
        const isNew = !sentLayerIds.has(layer.id);
        sentLayerIds.add(layer.id);
        if (layer.change_no <= since && !isNew) continue;
        await adminAccessAudit.recordRead(actor, reader, layer);
        const { counts: _, ...layerWithoutCounts }: AnnotationLayer = toAnnotationLayer(
          reader,
          layer,
          [], // the counts, which events omit
          names,
          translate,
        );
        events.push({ type: 'layer', data: { layer: layerWithoutCounts } });
        const event = annotationsEvent(layer, annotations.get(layer.id), names);
        if (event !== null) events.push(event);
      }
      return events;
    },

    async knownLayerIds(reader, imageId, since) {
      const known = (await listAllLayers(db, imageId)).filter((layer) => {
        // `hidden_change_no` is the change number at which the layer was last made private.
        const wasReadable =
          layerRightsOf(reader, layer).read ||
          (layer.hidden_change_no !== null && layer.hidden_change_no > since);
        return wasReadable && (layer.deleted_at === null || layer.change_no > since);
      });
      return new Set(known.map(({ id }) => id));
    },
  };
}

/**
 * Returns the event with the changed annotations of a layer; null if there are no changes.
 *
 * @param rows changed annotations; undefined: none; null: too many for an event
 */
function annotationsEvent(
  layer: LayerRow,
  rows: readonly AnnotationRow[] | null | undefined,
  names: ImageChanges['names'],
): AnnotationEvent | null {
  if (rows === undefined || rows?.length === 0) return null;
  const commonFields = { layer_id: layer.id, version: layer.version };
  if (rows === null) return { type: 'annotations', data: { ...commonFields, reload: true } };
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
  return { type: 'annotations', data: { ...commonFields, changes, authors } };
}
