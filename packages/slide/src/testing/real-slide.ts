import { fileURLToPath } from 'node:url';

/**
 * Path of a real Aperio slide in the repository (slides/README.md): 2220 × 2967 pixels, a single level of JPEG tiles of
 * 240 × 240 pixels that are stored as RGB.
 */
export const realSlide = fileURLToPath(new URL('slides/CMU-1-Small-Region.svs', import.meta.url));
