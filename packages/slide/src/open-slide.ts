import { type Slide, SlideError, type SlideLocation } from './slide.ts';

/** @throws SlideError FORMAT_NOT_RECOGNISED, with every format's reason for refusing */
export async function openSlide(_location: SlideLocation): Promise<Slide> {
  throw new SlideError('FORMAT_NOT_RECOGNISED', 'No format is read yet');
}
