/**
 * Lists annotations for visitors of share links. A link that shows annotations gives access to those layers of its
 * slides that all members (the accounts that may view the slide) may read. Every call reads the link, its creator and
 * the slide from the database, so access ends with the link in all server processes.
 *
 * Visitors learn no names of persons, and no text that may contain such a name. Layers are therefore numbered instead
 * of named: the name of an imported layer comes from a file name.
 */
import {
  type AnnotationLayer,
  AppError,
  type Bilingual,
  type listAnnotations,
  type QueryOf,
} from '@lamina/contract';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { effectiveAccount } from '../domain/account.ts';
import type { ImageSession } from '../domain/image-session.ts';
import { isShareLinkValid } from '../domain/share-link.ts';
import type { Translate } from '../domain/translate.ts';
import { countClasses, findLayer, type LayerRow, listLayers } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findShareLink, openedImageIds, shareableImagesByLink } from '../store/share-links.ts';
import { findUser } from '../store/users.ts';
import { visitorFeatureText } from './feature-json.ts';
import { requireImage, uuidPattern } from './layer-access.ts';
import { type AnnotationList, annotationListOf } from './list-text.ts';

export interface ShareLinkAnnotations {
  /** Returns the layers of a slide, oldest first. @throws AppError not_found when the link does not share the slide or annotations */
  layers(session: ImageSession, imageId: string, translate: Translate): Promise<AnnotationLayer[]>;
  /** Returns the annotations of a layer. @throws AppError not_found, invalid_request */
  list(
    session: ImageSession,
    layerId: string,
    query: QueryOf<typeof listAnnotations>,
  ): Promise<AnnotationList>;
}

const layerName = (number: number): Bilingual => ({ tr: `Katman ${number}`, en: `Layer ${number}` });

export function createShareLinkAnnotations(db: Database, now: () => Date): ShareLinkAnnotations {
  /** Checks that the visitor's link shows annotations of the image. @throws AppError not_found */
  async function requireAnnotationsShared({ visitor }: ImageSession, imageId: string): Promise<void> {
    const link = visitor === null ? null : await findShareLink(db, visitor.linkId); // null: the session of an account
    const creator = link === null ? null : await findUser(db, link.uid);
    if (link === null || creator === null) throw new AppError('not_found');
    const isShowingAnnotations = link.shows_annotations === 1 && isShareLinkValid(link, creator, now());
    if (!isShowingAnnotations) throw new AppError('not_found');
    const account = effectiveAccount(creator, now());
    const linkedImages = (await shareableImagesByLink(db, [link.id])).get(link.id) ?? [];
    // The slides that the link opens at present, which depend on the datasets that its creator may see.
    const images = openedImageIds(linkedImages, await findInaccessibleDatasets(db, account));
    if (!images.has(imageId)) throw new AppError('not_found');
    await requireImage(db, account, imageId);
  }

  return {
    async layers(session, imageId, translate) {
      await requireAnnotationsShared(session, imageId);
      const layers = (await listLayers(db, imageId, { onlyDeleted: false })).filter(isForMembers);
      const counts = await countClasses(
        db,
        layers.map(({ id }) => id),
      );
      return layers.map(
        (layer, index): AnnotationLayer => ({
          id: layer.id,
          image_id: layer.image_id,
          name: translate(layerName(index + 1)),
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
      const layer = uuidPattern.test(layerId) ? await findLayer(db, layerId) : null;
      if (layer === null || layer.deleted_at !== null || !isForMembers(layer))
        throw new AppError('not_found');
      await requireAnnotationsShared(session, layer.image_id);
      return annotationListOf(db, layer, query, {
        key: 'visitor', // a part of the ETag
        textOf: visitorFeatureText,
        authorsOf: null,
      });
    },
  };
}

function isForMembers({ visibility }: LayerRow): boolean {
  return visibility === 'members';
}
