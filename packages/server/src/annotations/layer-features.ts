/** Reads the annotations of a layer as features, for the files that the API and `npm run annotations` export. */
import { type AnnotationFeature, parseFeature } from '@lamina/annotations';
import { listAnnotations } from '../store/annotations.ts';
import type { Database } from '../store/database.ts';

const rowsPerBatch = 2000;

/** Returns all features of a layer, in the order in which they were added. */
export async function featuresOf(db: Database, layerId: string): Promise<AnnotationFeature[]> {
  const features: AnnotationFeature[] = [];
  for (let after = 0; ; ) {
    const rows = await listAnnotations(db, layerId, { box: null, after, limit: rowsPerBatch });
    for (const row of rows) {
      // The annotation was validated, and its positions were compared with the extent of the slide, when it was stored.
      const noExtent = null;
      const parsed = parseFeature(JSON.parse(row.feature), { extent: noExtent });
      if (parsed.ok) features.push(parsed.feature);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsPerBatch) return features;
    after = last.position;
  }
}
