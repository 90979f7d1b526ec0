import { readOnce } from '../source/read-once.ts';

/** Decoders of JPEG 2000 and XML need more than the 128 kB that koffi gives a call on a thread of its own. */
const STACK_BYTES = 2 ** 21;

/** koffi, which calls libraries in C. How it does so can be said only before the first of them is loaded. */
export const loadKoffi = readOnce(async () => {
  const { default: koffi } = await import('koffi');
  koffi.config({ async_stack_size: STACK_BYTES });
  return koffi;
});
