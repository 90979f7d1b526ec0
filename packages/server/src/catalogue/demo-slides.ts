/** The job that draws the demonstration slides if the catalogue is empty. One process runs it for all processes. */
import fs from 'node:fs';
import { type DemoSlidesOptions, demoSlideFiles, makeDemoSlides } from '@lamina/demo-slides';
import type { Jobs } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import type { Catalogue } from './catalogue.ts';

/** Includes two options of makeDemoSlides(): `onProgress` receives messages; with `parts`, tests draw only parts of the slides. */
interface Dependencies extends Pick<DemoSlidesOptions, 'onProgress' | 'parts'> {
  readonly config: Config;
  readonly catalogue: Pick<Catalogue, 'isEmpty'>;
  readonly jobs: Jobs;
}

/** Registers the handler of the job `draw-demo-slides`. */
export function registerDemoSlidesJob({ config, catalogue, jobs, ...options }: Dependencies): void {
  const folder = slideRoots(config).demo;
  jobs.setWorker('draw-demo-slides', async (_, signal) => {
    if (!(await catalogue.isEmpty())) return;
    // An earlier run may have drawn the slides and ended before the catalogue was scanned.
    const areDrawn = demoSlideFiles(folder).every((file) => fs.existsSync(file));
    if (!areDrawn) await makeDemoSlides({ folder, signal, ...options });
    await jobs.enqueue('rescan', { atStart: false });
  });
}
