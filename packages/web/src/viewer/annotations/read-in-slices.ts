/** Reads the annotations of a layer in slices of 8 ms, so that the slide can be moved while a large layer is loaded. */
import { loadAnnotations } from '../../api/annotations.ts';
import type { FeatureBatch } from '../../api/feature-stream.ts';

/** After this time, the browser gets a chance to handle input and to draw. */
const sliceMs = 8;
/** Number of features between two checks of the elapsed time. */
const featuresPerCheck = 20;

/** Calls `onFeature` for each feature of the layer. @returns the version of the layer */
export async function readInSlices(
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

/** Waits for the next task of the browser, which can handle input and draw before it. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
