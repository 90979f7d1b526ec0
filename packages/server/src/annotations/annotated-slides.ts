/** Slides with annotations that an account may read: the ones that changed last, and counts for the catalogue. */
import type { AnnotatedSlide, User } from '@lamina/contract';
import { inaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { mayManageAllLayers } from '../domain/annotation-rights.ts';
import {
  type AnnotatedImage,
  countAnnotationsOf,
  type LayerReader,
  listNewestLayers,
} from '../store/annotated-images.ts';
import { displayNamesOf } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import { isViewable } from './layer-access.ts';
import { authorName, type Say } from './layers.ts';

export interface AnnotatedSlides {
  /** Returns the slides whose annotations changed last, each with the layer that changed. */
  recent(reader: User, say: Say): Promise<AnnotatedSlide[]>;
  /** Counts the annotations of slides; a slide without annotations, or that the reader may not view, is missing. */
  count(reader: User, imageIds: readonly string[]): Promise<Readonly<Record<string, number>>>;
}

const maxRecentSlides = 8;
const layersPerQuery = 100;
/** Limits the search of an account that may view few of the annotated slides. */
const maxQueries = 10;

export function createAnnotatedSlides({ db }: { readonly db: Database }): AnnotatedSlides {
  const layerReader = (reader: User): LayerReader =>
    mayManageAllLayers(reader) ? null : { uid: reader.uid };

  return {
    async recent(reader, say) {
      const closed = await inaccessibleDatasets(db, reader);
      const slides = new Map<string, AnnotatedImage>();
      let before: AnnotatedImage | null = null;
      for (let query = 0; query < maxQueries; query++) {
        const layers: AnnotatedImage[] = await listNewestLayers(db, layerReader(reader), {
          before,
          limit: layersPerQuery,
        });
        for (const layer of layers) {
          if (slides.size === maxRecentSlides) break;
          if (!slides.has(layer.image_id) && isViewable(layer, reader, closed))
            slides.set(layer.image_id, layer);
        }
        before = layers.at(-1) ?? null;
        if (slides.size === maxRecentSlides || layers.length < layersPerQuery) break;
      }
      const newest = [...slides.values()];
      const names = await displayNamesOf(
        db,
        newest.flatMap(({ owner_uid }) => owner_uid ?? []),
      );
      return newest.map((layer) => ({
        image_id: layer.image_id,
        file_name: layer.file_name,
        layer_id: layer.id,
        layer_name: layer.name,
        owner: layer.owner_uid,
        owner_name: authorName(names, layer.owner_uid, say),
        annotation_count: layer.annotation_count,
        updated_at: layer.updated_at,
      }));
    },

    async count(reader, imageIds) {
      const closed = await inaccessibleDatasets(db, reader);
      const counts = await countAnnotationsOf(db, layerReader(reader), [...new Set(imageIds)]);
      const images = await findImages(db, [...counts.keys()]);
      return Object.fromEntries(
        images.flatMap((image) => {
          const count = counts.get(image.id);
          return count !== undefined && isViewable(image, reader, closed) ? [[image.id, count]] : [];
        }),
      );
    },
  };
}
