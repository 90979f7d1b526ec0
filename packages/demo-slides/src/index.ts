/** Entry point of the package: draws the demonstration slides. */
export { type DemoSlidesOptions, demoSlideFiles, makeDemoSlides } from './make-demo-slides.ts';
