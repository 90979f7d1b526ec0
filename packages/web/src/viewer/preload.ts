/** What a slide is opened with, asked for when it is about to be opened: a finger takes a tenth of a second to leave a button. */
import { type DeepZoomDescriptor, loadDescriptor } from './descriptor.ts';
import type { FetchPixels, PixelRequest } from './pixels.ts';

/** Whoever presses and does not click did not mean it; the descriptor is not kept for another day. */
const keptMs = 5000;

export interface DescriptorSupply {
  /** The slide will be opened in a moment. */
  expect(address: string): void;
  /** What was expected, for once, else a new request. @throws PixelError; the abort's reason */
  load(address: string, request: PixelRequest): Promise<DeepZoomDescriptor>;
}

interface Expected {
  readonly address: string;
  /** As for a request made by the opening itself. */
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
    descriptor.catch(() => undefined); // the opening hears of it, should there be one

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
      const ahead = expected?.address === address ? expected : null;
      expected = null;
      return ahead?.take(request) ?? loadDescriptor(fetchPixels, address, request);
    },
  };
}
