import { openSlideFrom } from '../open-slide.ts';
import type { Slide } from '../slide.ts';
import { memoryFiles } from './memory-files.ts';

/** Opens a slide of one file that is in memory. */
export function openBytes(bytes: Uint8Array): Promise<Slide> {
  return openSlideFrom(memoryFiles({ slide: bytes }));
}
