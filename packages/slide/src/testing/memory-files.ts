import { SlideError } from '../model/slide.ts';
import { memorySource } from '../source/memory-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';

/** Returns files of a slide that exist only in memory. @param files bytes by file name, the main file first */
export function memoryFiles(files: Readonly<Record<string, Uint8Array>>): SlideFiles {
  const [mainFile] = Object.entries(files);
  const [name, main] = mainFile ?? ['', new Uint8Array()];
  return {
    name,
    path: null,
    main: memorySource(main),
    fingerprint: memorySource(main).fingerprint,
    list: async () => Object.keys(files).sort(),
    listFolder: async () => [],
    async open(requestedName) {
      const bytes = files[requestedName];
      if (!bytes) throw new SlideError('FILE_MISSING', 'A file of this slide is missing');
      return memorySource(bytes);
    },
    async pathOf() {
      throw new SlideError('FORMAT_NOT_SUPPORTED', 'These files are in memory');
    },
    close: async () => {},
  };
}
