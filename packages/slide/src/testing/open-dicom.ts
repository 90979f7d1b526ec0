/** Opens DICOM slides of built files. */

import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { buildDicom, type DicomPlan, pictureOf } from './build-dicom.ts';
import { distance, drawLevel } from './draw-level.ts';
import { memoryFiles } from './memory-files.ts';

/** Opens the built files; the first one leads. */
export async function open(first: DicomPlan = {}, ...others: readonly DicomPlan[]): Promise<Slide> {
  return openFiles(
    Object.fromEntries(
      await Promise.all(
        [first, ...others].map(async (plan, i) => [
          `${i}.dcm`,
          await buildDicom({ instance: String(i + 1), ...plan }),
        ]),
      ),
    ),
  );
}

export const openFiles = (files: Readonly<Record<string, Uint8Array>>) => openSlideFrom(memoryFiles(files));

export async function distanceOf(plan: DicomPlan) {
  return distance(await drawLevel(await open(plan), 0), pictureOf(plan));
}
