/** Uploads of result files, each as a new result layer. */
import {
  createResultFile,
  createResultLayer,
  deleteResultLayer,
  type ResultKind,
  type ResultRegistration,
} from '@lamina/contract';
import { call, endpointUrl } from './client.ts';
import { invalidateResultLayers } from './results.ts';
import { sendByTus } from './tus-upload.ts';

interface ResultUpload {
  readonly imageId: string;
  readonly name: string;
  readonly kind: ResultKind;
  readonly registration: ResultRegistration; // how the content is placed on the slide
  readonly file: File;
  readonly signal: AbortSignal;
  /** Called with the fraction of the file that has been sent, 0 to 1. */
  readonly onProgress: (fraction: number) => void;
}

/**
 * Creates a layer and uploads its file, which the server then imports. If the upload fails or is cancelled, the layer is deleted.
 *
 * @throws the errors of `call` and `sendByTus`, and the abort reason of the signal
 */
export async function uploadResult({ imageId, file, signal, onProgress, ...body }: ResultUpload) {
  const { id: layerId } = await call(createResultLayer, { params: { imageId }, body });
  try {
    await sendByTus({
      file,
      destination: { endpoint: endpointUrl(createResultFile, { layerId }) },
      signal,
      onProgress: (sentBytes) => onProgress(file.size === 0 ? 1 : sentBytes / file.size),
    });
  } catch (error) {
    // If this call also fails, the server deletes the layer later.
    await call(deleteResultLayer, { params: { layerId } }).catch(() => undefined);
    throw error;
  } finally {
    await invalidateResultLayers(imageId);
  }
}
