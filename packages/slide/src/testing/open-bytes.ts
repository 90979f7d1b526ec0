import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { memoryFiles } from './memory-files.ts';

/** Opens a slide that is a single file in memory. */
export function openBytes(bytes: Uint8Array): Promise<Slide> {
  return openSlideFrom(memoryFiles({ slide: bytes }));
}
