/** Reads the annotations of a layer in slices of time, so that the slide stays movable while a large layer is loaded. */
import { loadAnnotations } from '../../api/annotations.ts';
import type { FeatureBatch } from '../../api/feature-stream.ts';

const sliceMs = 8;
/** Features between two looks at the clock. */
const featuresPerLook = 20;

/** Calls `take` for each feature. @returns the version of the layer */
export async function readInSlices(
  layerId: string,
  signal: AbortSignal,
  take: (feature: unknown, authors: FeatureBatch['authors']) => void,
): Promise<number> {
  let version = 0;
  let sliceStart = performance.now();
  for await (const batch of loadAnnotations(layerId, signal)) {
    version = batch.version;
    for (const [index, feature] of batch.features.entries()) {
      take(feature, batch.authors);
      if (index % featuresPerLook > 0 || performance.now() - sliceStart < sliceMs) continue;
      await nextTask();
      signal.throwIfAborted();
      sliceStart = performance.now();
    }
  }
  return version;
}

/** Lets the browser handle input and draw. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
