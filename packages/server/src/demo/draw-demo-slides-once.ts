/** Demonstration slides where there is no slide at all: drawn once, whichever process does it. */
import fs from 'node:fs';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Config } from '../config.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import { type DemoSlidesOptions, demoSlideFiles, makeDemoSlides } from './make-demo-slides.ts';

interface Ground extends Pick<DemoSlidesOptions, 'onProgress' | 'parts'> {
  readonly config: Config;
  readonly catalogue: Pick<Catalogue, 'isEmpty'>;
  readonly jobs: Jobs;
}

/** This process draws them when it is asked to. */
export function drawDemoSlidesOnce({ config, catalogue, jobs, ...options }: Ground): void {
  const folder = slideRoots(config).demo;
  jobs.on('draw-demo-slides', async (_, signal) => {
    if (!(await catalogue.isEmpty())) return;
    // Drawn, and not yet in the catalogue.
    const areDrawn = demoSlideFiles(folder).every((file) => fs.existsSync(file));
    if (!areDrawn) await makeDemoSlides({ folder, signal, ...options });
    await jobs.ask('rescan', { atStart: false });
  });
}
