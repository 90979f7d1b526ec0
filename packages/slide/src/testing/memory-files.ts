import { SlideError } from '../slide.ts';
import { memorySource } from '../source/memory-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';

/** Files of a slide that are in memory, the leading one first. */
export function memoryFiles(files: Readonly<Record<string, Uint8Array>>): SlideFiles {
  const [[name, leading] = ['', new Uint8Array()]] = Object.entries(files);
  return {
    name,
    path: null,
    leading: memorySource(leading),
    fingerprint: memorySource(leading).fingerprint,
    list: async () => Object.keys(files).sort(),
    async open(wanted) {
      const bytes = files[wanted];
      if (!bytes) throw new SlideError('FILE_MISSING', 'A file of this slide is missing');
      return memorySource(bytes);
    },
    close: async () => {},
  };
}
