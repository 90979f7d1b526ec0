/** Reads the annotations of a layer in time slices of 8 ms, so that the viewer stays responsive while a large layer loads. */
import { loadAnnotations } from '../../api/annotations.ts';
import type { FeatureBatch } from '../../api/feature-stream.ts';

/** After this time, reading pauses so that the browser can handle input and draw. */
const sliceMs = 8;
/** Number of features between two checks of the elapsed time. */
const featuresPerCheck = 20;

/**
 * Calls `onFeature` for each annotation of the layer, with its GeoJSON feature and the display names of authors by account id.
 *
 * @returns the version of the layer, which each change of its annotations increments
 */
export async function readAnnotationsInSlices(
  layerId: string,
  signal: AbortSignal,
  onFeature: (feature: unknown, authors: FeatureBatch['authors']) => void,
): Promise<number> {
  let version = 0;
  let sliceStart = performance.now();
  for await (const batch of loadAnnotations(layerId, signal)) {
    version = batch.version;
    for (const [index, feature] of batch.features.entries()) {
      onFeature(feature, batch.authors);
      if (index % featuresPerCheck > 0 || performance.now() - sliceStart < sliceMs) continue;
      await nextTask();
      signal.throwIfAborted();
      sliceStart = performance.now();
    }
  }
  return version;
}

/** Resolves in a new task of the browser, which can handle input and draw before that. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
