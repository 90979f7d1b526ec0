import { readOnce } from '../source/read-once.ts';

/** Stack size of koffi's worker threads. OpenSlide decodes JPEG 2000 and XML there and needs more than the default 128 kB. */
const STACK_BYTES = 2 ** 21;

/** Loads koffi, which calls functions of C libraries. koffi must be configured before it loads the first library. */
export const loadKoffi = readOnce(async () => {
  const { default: koffi } = await import('koffi');
  koffi.config({ async_stack_size: STACK_BYTES });
  return koffi;
});
