/** Finds slides with annotations that an account may read: the slides annotated last, and the counts that the catalogue shows. */
import type { AnnotatedSlide, User } from '@lamina/contract';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { mayManageAllLayers } from '../domain/annotation-rights.ts';
import type { Translate } from '../domain/translate.ts';
import {
  countAnnotationsOf,
  type LayerReader,
  type LayerWithImage,
  listNewestLayers,
} from '../store/annotated-images.ts';
import { displayNamesOf } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import { isViewable } from './layer-access.ts';
import { authorName } from './layers.ts';

export interface AnnotatedSlides {
  /** Returns at most 8 slides whose annotations changed last, newest first, each with the layer that changed. */
  recent(reader: User, translate: Translate): Promise<AnnotatedSlide[]>;
  /**
   * Returns numbers of annotations by slide id, counted in the layers that the reader may read. Leaves out slides with none, and
   * slides that the reader may not view.
   */
  count(reader: User, imageIds: readonly string[]): Promise<Readonly<Record<string, number>>>;
}

const maxRecentSlides = 8;
const layersPerQuery = 100;
/** `recent` considers only the 1000 layers that changed last: an account may view few of them, and the search must end. */
const maxQueries = 10;

export function createAnnotatedSlides({ db }: { readonly db: Database }): AnnotatedSlides {
  /** Returns the account whose private layers a query includes; null: the private layers of all accounts. */
  const layerReaderOf = (reader: User): LayerReader =>
    mayManageAllLayers(reader) ? null : { uid: reader.uid };

  return {
    async recent(reader, translate) {
      const inaccessibleDatasets = await findInaccessibleDatasets(db, reader);
      const slides = new Map<string, LayerWithImage>();
      let lastLayer: LayerWithImage | null = null;
      for (let query = 0; query < maxQueries; query++) {
        const layers: LayerWithImage[] = await listNewestLayers(db, layerReaderOf(reader), {
          before: lastLayer,
          limit: layersPerQuery,
        });
        for (const layer of layers) {
          if (slides.size === maxRecentSlides) break;
          if (!slides.has(layer.image_id) && isViewable(layer, reader, inaccessibleDatasets))
            slides.set(layer.image_id, layer);
        }
        lastLayer = layers.at(-1) ?? null;
        if (slides.size === maxRecentSlides || layers.length < layersPerQuery) break;
      }
      const newestLayers = [...slides.values()];
      const names = await displayNamesOf(
        db,
        newestLayers.flatMap(({ owner_uid }) => owner_uid ?? []),
      );
      return newestLayers.map((layer) => ({
        image_id: layer.image_id,
        file_name: layer.file_name,
        layer_id: layer.id,
        layer_name: layer.name,
        owner: layer.owner_uid,
        owner_name: authorName(names, layer.owner_uid, translate),
        annotation_count: layer.annotation_count,
        updated_at: layer.updated_at,
      }));
    },

    async count(reader, imageIds) {
      const inaccessibleDatasets = await findInaccessibleDatasets(db, reader);
      const counts = await countAnnotationsOf(db, layerReaderOf(reader), [...new Set(imageIds)]);
      const images = await findImages(db, [...counts.keys()]);
      return Object.fromEntries(
        images.flatMap((image) => {
          const count = counts.get(image.id);
          return count !== undefined && isViewable(image, reader, inaccessibleDatasets)
            ? [[image.id, count]]
            : [];
        }),
      );
    },
  };
}
