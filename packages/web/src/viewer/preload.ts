/** Preloads the descriptor of a slide when the pointer is pressed on its row: the click follows about 0.1 s later. */
import { type DeepZoomDescriptor, loadDescriptor } from './descriptor.ts';
import type { FetchPixels, PixelRequest } from './pixels.ts';

/** A preloaded descriptor is dropped after this time without a click. */
const maxAgeMs = 5000;

export interface DescriptorSupply {
  /** Preloads the descriptor of a slide that will probably be opened soon. */
  preload(url: string): void;
  /**
   * Returns the preloaded descriptor, or requests it when there is none. A preloaded descriptor is returned only once.
   *
   * @throws PixelError, or the reason of the abort
   */
  load(url: string, request: PixelRequest): Promise<DeepZoomDescriptor>;
}

interface Preload {
  readonly url: string;
  /**
   * Returns the descriptor to the request that opens the slide. From then on, the abort of that request aborts the preload, and
   * the preload calls its `onRenewing`.
   */
  take(request: PixelRequest): Promise<DeepZoomDescriptor>;
}

export function createDescriptorSupply(fetchPixels: FetchPixels): DescriptorSupply {
  let currentPreload: Preload | null = null;

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
    loadingDescriptor.catch(() => undefined); // `take` returns the same promise, so the opening of the slide handles the error

    const preload: Preload = {
      url,
      take(request) {
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
      // When two slides are opened side by side, the other slide must not remove the preloaded descriptor.
      if (currentPreload?.url !== url) return loadDescriptor(fetchPixels, url, request);
      const { take } = currentPreload;
      currentPreload = null;
      return take(request);
    },
  };
}
