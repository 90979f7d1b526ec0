/**
 * What visitors read of annotations: the layers of linked slides that every member may read, while a share link shows annotations.
 * Every call reads the link, its maker and the slide from the database, so it ends with the link on all processes.
 *
 * A visitor learns no person and no text that may name one: layers are numbered, since imported layers are named after files.
 */
import {
  type AnnotationLayer,
  AppError,
  type Bilingual,
  type listAnnotations,
  type QueryOf,
} from '@lamina/contract';
import { effectiveAccount } from '../domain/account.ts';
import type { ImageSession } from '../domain/image-session.ts';
import { isShareLinkValid } from '../domain/share-link.ts';
import { countClasses, findLayer, type LayerRow, listLayers } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findShareLink, imagesOfLinks } from '../store/share-links.ts';
import { findUser } from '../store/users.ts';

import { shownFeatureText } from './feature-json.ts';
import { requireImage, uuid } from './layer-access.ts';
import type { Say } from './layers.ts';
import { type AnnotationList, annotationListOf } from './list-text.ts';

export interface LinkedAnnotations {
  /** Oldest first. @throws AppError not_found for a slide that the link does not open, and when it shows no annotations */
  layers(session: ImageSession, imageId: string, say: Say): Promise<AnnotationLayer[]>;
  /** @throws AppError not_found, invalid_request */
  list(
    session: ImageSession,
    layerId: string,
    query: QueryOf<typeof listAnnotations>,
  ): Promise<AnnotationList>;
}

const layerName = (number: number): Bilingual => ({ tr: `Katman ${number}`, en: `Layer ${number}` });

export function createLinkedAnnotations(db: Database, now: () => Date): LinkedAnnotations {
  /** @throws AppError not_found */
  async function requireShown({ visitor }: ImageSession, imageId: string): Promise<void> {
    const link = visitor === null ? null : await findShareLink(db, visitor.linkId);
    const maker = link === null ? null : await findUser(db, link.uid);
    if (link === null || maker === null) throw new AppError('not_found');
    const isShown = link.shows_annotations === 1 && isShareLinkValid(link, maker, now());
    const images = isShown ? ((await imagesOfLinks(db, [link.id])).get(link.id) ?? []) : [];
    if (!images.some(({ id }) => id === imageId)) throw new AppError('not_found');
    await requireImage(db, effectiveAccount(maker, now()), imageId);
  }

  return {
    async layers(session, imageId, say) {
      await requireShown(session, imageId);
      const layers = (await listLayers(db, imageId, false)).filter(isForMembers);
      const counts = await countClasses(
        db,
        layers.map(({ id }) => id),
      );
      return layers.map(
        (layer, index): AnnotationLayer => ({
          id: layer.id,
          image_id: layer.image_id,
          name: say(layerName(index + 1)),
          owner: null,
          owner_name: null,
          visibility: layer.visibility,
          editing: layer.editing,
          locked: layer.locked_by !== null,
          source: layer.source,
          created_at: layer.created_at,
          updated_at: layer.updated_at,
          version: layer.version,
          deleted_at: null,
          annotation_count: layer.annotation_count,
          counts: [...(counts.get(layer.id) ?? [])],
          rights: { annotate: false, manage: false, lock: false },
        }),
      );
    },

    async list(session, layerId, query) {
      const layer = uuid.test(layerId) ? await findLayer(db, layerId) : null;
      if (layer === null || layer.deleted_at !== null || !isForMembers(layer))
        throw new AppError('not_found');
      await requireShown(session, layer.image_id);
      return annotationListOf(db, layer, query, {
        key: 'visitor',
        textOf: shownFeatureText,
        authorsOf: null,
      });
    },
  };
}

function isForMembers({ visibility }: LayerRow): boolean {
  return visibility === 'members';
}
