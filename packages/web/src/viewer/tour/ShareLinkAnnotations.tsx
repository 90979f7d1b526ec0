import { useEffect, useRef } from 'react';
import { type ShareLinkFeatures, useShareLinkAnnotations } from '../../api/share-link-annotations.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import classes from '../annotations/Annotations.module.css';
import { type Annotation, annotationOf, readFeature } from '../annotations/annotation.ts';
import { AnnotationPainter } from '../annotations/painter.ts';
import { clearCanvas } from '../overlay/clear-canvas.ts';
import type { SlideView } from '../slide-view.ts';
import tourClasses from './Tour.module.css';
import { texts } from './texts.ts';

interface ShareLinkAnnotationsProps {
  readonly view: SlideView;
  readonly imageId: string;
  /** Image session (the credential for loading pixels) of the share link. */
  readonly session: string;
}

/** Draws the annotations of a slide for visitors of a share link. Pointer events pass through to the slide. */
export function ShareLinkAnnotations({ view, imageId, session }: ShareLinkAnnotationsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { data: layers, errorUpdateCount, refetch } = useShareLinkAnnotations(imageId, session);
  useEffect(() => {
    if (layers === undefined) return;
    const painter = new AnnotationPainter();
    painter.reset(layers.flatMap(annotationsOf));
    let frame = 0; // id of the scheduled animation frame; 0 when none is scheduled
    const draw = () => {
      frame = 0;
      const context = clearCanvas(canvas.current, view);
      const placement = view.placement();
      if (context === null || placement === null) return;
      const size = { ...view.size(), pixelRatio: window.devicePixelRatio };
      const isIncomplete = painter.draw(context, placement, size);
      if (isIncomplete) scheduleDraw(); // the painter limits its time per frame and continues in the next one
    };
    const scheduleDraw = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const stopWatching = view.watch(draw);
    const resizeObserver = new ResizeObserver(scheduleDraw);
    if (canvas.current !== null) resizeObserver.observe(canvas.current);
    scheduleDraw();
    return () => {
      stopWatching();
      resizeObserver.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [view, layers]);
  useEffect(() => {
    if (canvas.current === null) return;
    return view.addOverlay({ canvas: canvas.current }); // saved pictures show the annotations
  }, [view]);
  const count = layers?.reduce((sum, { features }) => sum + features.length, 0);
  /** Stays true while the request is repeated, so that the message does not come and go. */
  const hasFailed = layers === undefined && errorUpdateCount > 0;
  return (
    <>
      <div
        className={classes.canvases}
        role="img"
        aria-label={hasFailed ? texts.annotationsNotLoaded : texts.annotationsShown(count ?? 0)}
      >
        <canvas ref={canvas} />
      </div>
      {hasFailed && (
        <div className={tourClasses.failed}>
          <LoadFailed message={texts.annotationsNotLoaded} onRetry={() => void refetch()} />
        </div>
      )}
    </>
  );
}

/** Parses the GeoJSON features of an annotation layer; omits invalid ones. */
function annotationsOf({ layerId, features }: ShareLinkFeatures): readonly Annotation[] {
  return features.flatMap((json) => {
    const feature = readFeature(json);
    if (feature === null) return [];
    // Visitors see neither revisions nor authors nor times.
    return annotationOf({ feature, layerId, revision: null, author: null, changedAt: 0 });
  });
}
