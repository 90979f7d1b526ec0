/**
 * Loads the Deep Zoom descriptors of slides. A descriptor is preloaded when the pointer is pressed on the slide's row in the
 * catalogue, because the click that opens the slide follows about 0.1 s later.
 */
import { type DeepZoomDescriptor, loadDescriptor } from './descriptor.ts';
import type { FetchPixels, PixelRequest } from './pixels.ts';

/** A preloaded descriptor is discarded when the slide is not opened within this time. */
const maxAgeMs = 5000;

/** The descriptors of slides, by their URL. */
export interface DescriptorSupply {
  /** Preloads the descriptor of a slide that will probably be opened soon. */
  preload(url: string): void;
  /**
   * Returns the preloaded descriptor, or requests it when there is none. A preloaded descriptor is returned only once.
   *
   * @throws PixelError; after an abort, the reason of the abort
   */
  load(url: string, request: PixelRequest): Promise<DeepZoomDescriptor>;
}

interface Preload {
  readonly url: string;
  /**
   * Hands the descriptor over to the request that opens the slide. From then on, aborting that request aborts the preload, and
   * the preload calls `onRenewing` of that request.
   */
  handOver(request: PixelRequest): Promise<DeepZoomDescriptor>;
}

export function createDescriptorSupply(fetchPixels: FetchPixels): DescriptorSupply {
  let currentPreload: Preload | null = null; // null while no descriptor is preloaded

  function startPreload(url: string): Preload {
    const abortController = new AbortController();
    const expiryTimer = setTimeout(() => {
      abortController.abort();
      if (currentPreload === preload) currentPreload = null;
    }, maxAgeMs);
    let isRenewing = false;
    let notifyRenewing = () => {};
    const onRenewing = () => {
      isRenewing = true;
      notifyRenewing();
    };
    const loadingDescriptor = loadDescriptor(fetchPixels, url, {
      signal: abortController.signal,
      onRenewing,
    });
    loadingDescriptor.catch(() => undefined); // prevents an unhandled rejection; the caller of `handOver` handles the error

    const preload: Preload = {
      url,
      handOver(request) {
        clearTimeout(expiryTimer);
        request.signal.addEventListener('abort', () => abortController.abort(request.signal.reason), {
          once: true,
        });
        notifyRenewing = request.onRenewing;
        if (isRenewing) notifyRenewing();
        return loadingDescriptor;
      },
    };
    return preload;
  }

  return {
    preload(url) {
      if (currentPreload?.url !== url) currentPreload = startPreload(url);
    },

    load(url, request) {
      // When two slides are opened side by side, opening one of them must not remove the preloaded descriptor of the other.
      if (currentPreload?.url !== url) return loadDescriptor(fetchPixels, url, request);
      const { handOver } = currentPreload;
      currentPreload = null;
      return handOver(request);
    },
  };
}
