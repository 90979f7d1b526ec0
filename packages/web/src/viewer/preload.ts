/** Preloads the descriptor of a slide on pointer down: a click follows about 0.1 s later. */
import { type DeepZoomDescriptor, loadDescriptor } from './descriptor.ts';
import type { FetchPixels, PixelRequest } from './pixels.ts';

/** A preloaded descriptor expires after this time without a click. */
const keptMs = 5000;

export interface DescriptorSupply {
  /** The slide will probably be opened soon. */
  expect(address: string): void;
  /** Returns the preloaded descriptor, once, else requests it. @throws PixelError; the abort's reason */
  load(address: string, request: PixelRequest): Promise<DeepZoomDescriptor>;
}

interface Expected {
  readonly address: string;
  /** As for a request by the opening itself. */
  take(request: PixelRequest): Promise<DeepZoomDescriptor>;
}

export function createDescriptorSupply(fetchPixels: FetchPixels): DescriptorSupply {
  let expected: Expected | null = null;

  function begin(address: string): Expected {
    const end = new AbortController();
    const forgotten = setTimeout(() => {
      end.abort();
      if (expected === begun) expected = null;
    }, keptMs);
    let isRenewing = false;
    let tell = () => {};
    const onRenewing = () => {
      isRenewing = true;
      tell();
    };
    const descriptor = loadDescriptor(fetchPixels, address, { signal: end.signal, onRenewing });
    descriptor.catch(() => undefined); // an opening receives the error itself

    const begun: Expected = {
      address,
      take(request) {
        clearTimeout(forgotten);
        request.signal.addEventListener('abort', () => end.abort(request.signal.reason), { once: true });
        tell = request.onRenewing;
        if (isRenewing) tell();
        return descriptor;
      },
    };
    return begun;
  }

  return {
    expect(address) {
      if (expected?.address !== address) expected = begin(address);
    },

    load(address, request) {
      // Another slide that opens meanwhile, as the first of two, leaves the preloaded descriptor for its own slide.
      if (expected?.address !== address) return loadDescriptor(fetchPixels, address, request);
      const { take } = expected;
      expected = null;
      return take(request);
    },
  };
}
