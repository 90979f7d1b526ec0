/** Builds DICOM slides and opens them. */

import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { buildDicom, type DicomPlan, pictureOf } from './build-dicom.ts';
import { difference } from './compare-pixels.ts';
import { drawLevel } from './draw-level.ts';
import { memoryFiles } from './memory-files.ts';

/**
 * Builds one file for each plan and opens all files as one slide; the first is the main file (by which a slide is
 * opened).
 */
export async function openDicom(first: DicomPlan = {}, ...others: readonly DicomPlan[]): Promise<Slide> {
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

/** Opens files as a slide. @param files bytes by file name, the main file first */
export const openFiles = (files: Readonly<Record<string, Uint8Array>>) => openSlideFrom(memoryFiles(files));

/** Builds and opens a slide; returns how much the samples of level 0 differ from the image that the plan describes. */
export async function differenceFromPlan(plan: DicomPlan) {
  return difference(await drawLevel(await openDicom(plan), 0), pictureOf(plan));
}
